"""Generation of summaries by a model's own search, in batches of articles of similar length."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from weebill.generation.models import Generator
from weebill.generation.settings import SearchSettings


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
    Raises InputError if the model is no encoder-decoder, or has fewer positions than the texts' token limits.
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
