"""Generation of summaries by a model's own search, in batches of articles of similar length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from weebill.generation.models import Generator


@dataclass(frozen=True)
class SearchSettings:
    """Settings of the search, in place of a model's own; tokens that it forces or forbids stay so.

    max_tokens, min_tokens: bounds of a summary, end included.  no_repeat: length of spans that may not occur twice;
    0 allows all.  length_penalty: a beam's score is divided by its length to this power.
    """

    beam: int = 4
    max_tokens: int = 128
    min_tokens: int = 0
    no_repeat: int = 0
    length_penalty: float = 1.0
    batch_size: int = 16

    def options(self) -> dict[str, object]:
        """Return the options as `generate()` keyword arguments."""
        return {
            "do_sample": False,
            "num_beams": self.beam,
            "num_return_sequences": 1,
            "max_length": None,
            "min_length": None,
            "max_new_tokens": self.max_tokens,
            "min_new_tokens": self.min_tokens or None,
            "no_repeat_ngram_size": self.no_repeat,
            "encoder_no_repeat_ngram_size": 0,
            "encoder_repetition_penalty": None,
            "length_penalty": self.length_penalty,
            "early_stopping": False,
            "repetition_penalty": None,
            "exponential_decay_length_penalty": None,
            "use_cache": True,
        }


def encode(generator: Generator, texts: Sequence[str], max_source: int) -> dict[str, Tensor]:
    """Return texts as the padded input of an encoder-decoder, cut at `max_source` tokens."""
    return generator.tokenizer(
        list(texts), truncation=True, max_length=max_source, padding=True, return_tensors="pt"
    )


@torch.inference_mode()
def summarize(
    generator: Generator,
    articles: Sequence[str],
    settings: SearchSettings,
    max_source: int,
    report: Callable[[int], None] = lambda done: None,
) -> list[str]:
    """Write a summary of each article, in their order; line breaks are kept.

    report: called after each batch with the number of finished articles.
    Raises InputError where the model is no encoder-decoder, or has fewer positions than the texts' token limits.
    """
    longest = {"max_source": max_source, "search.max_tokens": settings.max_tokens}
    generator.check("summarization", longest)
    device = next(generator.model.parameters()).device
    order = sorted(range(len(articles)), key=lambda index: len(articles[index]))
    found = [""] * len(articles)
    for start in range(0, len(order), settings.batch_size):
        indices = order[start : start + settings.batch_size]
        inputs = encode(generator, [articles[index] for index in indices], max_source).to(device)
        given = {key: inputs[key] for key in ("input_ids", "attention_mask")}
        tokens = generator.model.generate(**given, **settings.options())
        texts = generator.tokenizer.batch_decode(tokens, skip_special_tokens=True)
        for index, text in zip(indices, texts, strict=True):
            found[index] = text.strip()
        report(start + len(indices))
    return found
