"""Training batches of text; each depends only on the seed and its number, so a resumed run has the same batches.

A batch holds tensors by name.  Encoder-decoders: input_ids, attention_mask (n, source), decoder_input_ids, labels
(n, target).  Decoders: input_ids, attention_mask, labels (n, positions).  `labels` are the tokens to predict at
each position, −100 if there is none.  share: the batch's share of the update's labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from weebill.errors import InputError
from weebill.generation.data import Row
from weebill.generation.settings import TrainingSettings

IGNORED = -100  # label of positions without a token
POOL = 16  # batches sorted by length together
MASKED, SPAN = 0.3, 3.0  # share of the tokens in masked spans, and their mean length
STOPS = (".", "!", "?")

Batch = dict[str, Tensor]


@dataclass(frozen=True)
class Example:
    """Source and target tokens; an example for a decoder is one text, with an empty target."""

    source: list[int]
    target: list[int]


@dataclass(frozen=True)
class Encoder:
    """Tokenizer of a model's text; text with a piece that has no row in the model raises InputError.

    max_source: largest number of tokens of an article, or of a window of running text.  max_target: the same for a
    summary.  Longer articles and summaries are cut, but keep their end tokens.  prefix: text before each article.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    max_source: int
    max_target: int
    prefix: str = ""

    def examples(self, rows: Sequence[Row]) -> list[Example]:
        """Return articles with summaries; or windows of running text, all of full length except the last."""
        if "article" in rows[0]:
            articles = [self.prefix + row["article"] for row in rows]
            sources = self.tokens(articles, self.max_source)
            return list(map(Example, sources, self.targets([row["summary"] for row in rows])))
        return self.running_text([row["text"] for row in rows])

    def passages(self, texts: Sequence[str]) -> list[Example]:
        """Return texts in passages of at most max_source tokens, ends included, as sources to denoise."""
        first, last = self.tokenizer.bos_token_id, self.tokenizer.eos_token_id
        size = self.max_source - 2
        return [
            Example([first, *tokens[start : start + size], last], [])
            for tokens in self._bare(texts)
            for start in range(0, len(tokens), size)
        ]

    def tokens(self, texts: Sequence[str], limit: int) -> list[list[int]]:
        """Return the tokens of texts with their ends, cut at a limit."""
        found = self.tokenizer(list(texts), truncation=True, max_length=limit)["input_ids"]
        return self._with_rows(found, self.model.config.vocab_size)

    def targets(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of summaries with their ends; Marian has separate pieces for the target side."""
        found = self.tokenizer(text_target=list(texts), truncation=True, max_length=self.max_target)
        config = self.model.config
        rows = getattr(config, "decoder_vocab_size", None) or config.vocab_size
        return self._with_rows(found["input_ids"], rows)

    def running_text(self, texts: Sequence[str]) -> list[Example]:
        """Return the stream in windows of max_source + 1 tokens, each beginning with the last token before it."""
        stream, size = self.stream(texts), self.max_source
        starts = range(0, len(stream) - 1, size)
        return [Example(stream[start : start + size + 1], []) for start in starts]

    def stream(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of the concatenated texts, each preceded by an end of text.

        If the tokenizer begins each text with a token, as Llama's does, that token is used instead.
        """
        begin = [*self.tokenizer("")["input_ids"], self.tokenizer.eos_token_id][0]
        return [token for tokens in self._bare(texts) for token in (begin, *tokens)]

    def _bare(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts without their ends."""
        found = self.tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
        return self._with_rows(found, self.model.config.vocab_size)

    def _with_rows(self, found: list[list[int]], rows: int) -> list[list[int]]:
        """Return the tokens.  Raises InputError if one of them is beyond the rows of the model."""
        if len(self.tokenizer) > rows:
            for number, tokens in enumerate(found, 1):
                if (last := max(tokens, default=0)) >= rows:
                    piece = self.tokenizer.convert_ids_to_tokens(last)
                    raise InputError(
                        f"text {number}: has '{piece}', piece {last:,} of the tokenizer, but the model has {rows:,} "
                        "rows; take it out of the text"
                    )
        return found

    def batch(self, examples: Sequence[Example]) -> Batch:
        """Return examples as padded tensors."""
        config = self.model.config
        sources = [torch.tensor(example.source) for example in examples]
        if not config.is_encoder_decoder:
            given = _padded([tokens[:-1] for tokens in sources], 0)
            labels = _padded([tokens[1:] for tokens in sources], IGNORED)
            mask = (labels != IGNORED).long()
            return {"input_ids": given, "attention_mask": mask, "labels": labels}
        labels = _padded([torch.tensor(example.target) for example in examples], IGNORED)
        shifted = labels.roll(1, dims=1)
        shifted[:, 0] = config.decoder_start_token_id
        return {
            "input_ids": _padded(sources, config.pad_token_id),
            "attention_mask": _padded([torch.ones_like(tokens) for tokens in sources], 0),
            "decoder_input_ids": shifted.masked_fill(shifted == IGNORED, config.pad_token_id),
            "labels": labels,
        }

    def batches(self, examples: Sequence[Example], size: int) -> list[Batch]:
        """Return all examples once, in order, as batches."""
        starts = range(0, len(examples), size)
        return [self.batch(examples[start : start + size]) for start in starts]


def _padded(tokens: Sequence[Tensor], value: int) -> Tensor:
    return pad_sequence(tokens, batch_first=True, padding_value=value)


class Batches(Dataset):
    """Batches of a training, `accumulate` of them in each update.

    Each round contains all examples once, in its own order; the examples of a batch have similar lengths.
    noise: added to each source; the target is the source without noise.
    """

    def __init__(
        self,
        encoder: Encoder,
        examples: Sequence[Example],
        settings: TrainingSettings,
        seed: int,
        noise: "Noise | None" = None,
    ):
        if not examples:
            raise InputError("no text to train on; check the data's `train`")
        self.encoder, self.examples, self.seed, self.noise = encoder, examples, seed, noise
        self.settings, self.accumulate = settings, settings.accumulate
        self.updates = settings.updates_of(len(examples))
        self.per_round = -(-len(examples) // settings.batch_size)
        self.round = lru_cache(maxsize=2)(self._round)

    def __len__(self) -> int:
        return self.updates * self.accumulate

    def __getitem__(self, number: int) -> Batch:
        first = number - number % self.accumulate
        update = [self._chosen(other) for other in range(first, first + self.accumulate)]
        counts = [sum(map(self._labels, examples)) for examples in update]
        chosen = update[number - first]
        if self.noise is not None:
            chosen = self.noise.add(chosen, np.random.default_rng((self.seed, 1, number)))
        batch = self.encoder.batch(chosen)
        return {**batch, "share": torch.tensor(counts[number - first] / sum(counts))}

    def _labels(self, example: Example) -> int:
        if self.noise is not None:
            return len(example.source)
        return len(example.target) or len(example.source) - 1

    def _chosen(self, number: int) -> list[Example]:
        indices = self.round(number // self.per_round)[number % self.per_round]
        return [self.examples[index] for index in indices]

    def _round(self, number: int) -> list[np.ndarray]:
        """Return the examples of each batch of a round."""
        draw = np.random.default_rng((self.seed, number))
        lengths = np.array([len(e.source) + len(e.target) for e in self.examples])
        order = draw.permutation(len(self.examples))
        size = self.settings.batch_size
        pool = POOL * size
        batches = []
        for first in range(0, len(order), pool):
            part = order[first : first + pool]
            part = part[np.argsort(lengths[part], kind="stable")]
            batches += np.split(part, range(size, len(part), size))
        return [batches[place] for place in draw.permutation(len(batches))]


@dataclass(frozen=True)
class Noise:
    """Noise of BART's pre-training task, which is to restore text (Lewis et al. 2020, §2.2).

    Sentences are shuffled, so that the model must use their content, not their place.  Of the tokens, 30 % are masked
    in spans with lengths from a Poisson distribution of mean 3; each span, even of length 0, becomes one <mask>.
    mask: number of <mask>.  stops: the tokens that end a sentence.
    """

    mask: int
    stops: frozenset[int]

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> Self:
        """Take mask and stops from a tokenizer."""
        pieces = tokenizer.get_vocab().items()
        stops = frozenset(number for piece, number in pieces if piece.endswith(STOPS))
        return cls(tokenizer.mask_token_id, stops)

    def add(self, examples: Sequence[Example], draw: np.random.Generator) -> list[Example]:
        """Add noise to the sources between their end tokens; the sources without noise are the targets."""
        found = []
        for example in examples:
            first, *inner, last = example.source
            noisy = self.infill(self.permute(inner, draw), draw)
            found.append(Example([first, *noisy, last], example.source))
        return found

    def permute(self, tokens: Sequence[int], draw: np.random.Generator) -> list[int]:
        """Put the sentences of a text, each up to one of `stops`, in random order."""
        sentences: list[list[int]] = [[]]
        for token in tokens:
            sentences[-1].append(token)
            if token in self.stops:
                sentences.append([])
        return [token for place in draw.permutation(len(sentences)) for token in sentences[place]]

    def infill(self, tokens: Sequence[int], draw: np.random.Generator) -> list[int]:
        """Replace spans with ⌈0.3 · n⌉ tokens in all by `mask` in the tokens of a text without its ends."""
        wanted = int(np.ceil(MASKED * len(tokens)))
        lengths: list[int] = []
        while sum(lengths) < wanted:
            lengths.append(min(int(draw.poisson(SPAN)), wanted - sum(lengths)))
        # Ordering spans and single tokens at random gives the spans random places without overlap.
        order = draw.permutation([*range(len(lengths)), *([-1] * (len(tokens) - wanted))])
        noisy: list[int] = []
        place = 0
        for part in order:
            noisy.append(tokens[place] if part < 0 else self.mask)
            place += 1 if part < 0 else lengths[part]
        return noisy
