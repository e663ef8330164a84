"""Perplexity of running text by strided windows: each token is predicted once, with enough context."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from weebill.errors import InputError
from weebill.generation.encoding import Encoder
from weebill.generation.models import Generator
from weebill.kernels.cuda import to_device
from weebill_runtime.lines import checked_lines


@dataclass(frozen=True)
class Surprise:
    """Surprise of a text: −log p summed over the scored tokens of each window, and their number.

    size: the text's bytes in UTF-8, plus one for each end between texts.
    """

    totals: np.ndarray  # (windows,), float64, natural logarithms
    tokens: np.ndarray  # (windows,)
    size: int

    @property
    def perplexity(self) -> float:
        """Perplexity: exp of the mean −log p over tokens."""
        return math.exp(self.totals.sum() / self.tokens.sum())

    @property
    def bits_per_byte(self) -> float:
        """Mean −log₂ p per byte, which is comparable between vocabularies."""
        return self.totals.sum() / math.log(2) / self.size


@torch.inference_mode()
def surprise(
    generator: Generator, texts: Sequence[str], window: int, stride: int, batch_size: int = 8
) -> Surprise:
    """Score all tokens of the concatenated texts, each preceded by an end of text.

    window: tokens that the model sees.  stride: step between windows; a token after the first window is predicted
    from at least window − stride tokens.
    Raises InputError if the model is not a decoder, if the stride exceeds the window or the window the positions, if
    there is no text, or if logits are not finite.
    """
    texts = checked_lines("texts", texts)
    if not any(texts):
        raise InputError("perplexity: no text to score; give one that is not empty")
    if not 1 <= stride <= window:
        raise InputError(f"perplexity: stride {stride}, expected 1 to the window's {window}")
    generator.check("language-modelling", {"perplexity.window": window})
    stream = torch.tensor(Encoder(generator.model, generator.tokenizer, window, 0).stream(texts))
    device = next(generator.model.parameters()).device
    count = len(stream) - 1  # tokens to predict
    starts = [0, *range(stride, max(stride, count - window + stride), stride)]
    ends = [min(start + window, count) for start in starts]
    # For each window: its first token, its first scored token, and the end of both.
    spans = list(zip(starts, [0, *ends[:-1]], ends, strict=True))
    totals = []
    for first in range(0, len(spans), batch_size):
        some = spans[first : first + batch_size]
        given = pad_sequence([stream[start:end] for start, _, end in some], batch_first=True)
        logits = generator.model(to_device(given, device), use_cache=False).logits
        for row, (start, begin, end) in zip(logits, some, strict=True):
            wanted = to_device(stream[begin + 1 : end + 1], device)
            scores = row[begin - start : end - start].double()
            chosen = scores.gather(1, wanted[:, None])[:, 0]
            totals.append((scores.logsumexp(1) - chosen).sum())  # on a GPU, the host does not wait
    size = len("\n".join(texts).encode())  # the ends between texts are scored, so they count
    found = torch.stack(totals).cpu().numpy()
    if not np.isfinite(found).all():
        raise InputError(
            f"perplexity: {generator.path} gives logits that are not finite; train it again, more slowly"
        )
    return Surprise(found, np.array([end - begin for _, begin, end in spans]), size)
