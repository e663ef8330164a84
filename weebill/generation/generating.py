"""Summaries by a model's own search, article by article of like length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from weebill.generation.models import Generator


@dataclass(frozen=True)
class SearchSettings:
    """How summaries are searched for, whatever a model's own settings of search; tokens that it forces or forbids
    stay so.

    max_tokens, min_tokens: of a summary, its end included.  no_repeat: no span of so many tokens comes twice;
    0: they may.  length_penalty: exponent of the length that a beam's score is divided by.
    """

    beam: int = 4
    max_tokens: int = 128
    min_tokens: int = 0
    no_repeat: int = 0
    length_penalty: float = 1.0
    batch_size: int = 16

    def options(self) -> dict[str, object]:
        """In the library's words."""
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
    """Texts as the padded input of an encoder-decoder, cut off at `max_source` tokens."""
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
    """A summary for each article, in their order; its line breaks are kept.

    report: told, after each batch, how many are done.
    Raises InputError where the model is no encoder-decoder, or has fewer positions than texts may have tokens.
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
