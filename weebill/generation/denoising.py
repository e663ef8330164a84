"""Pre-training task of BART: restore text whose sentences were permuted and whose spans were masked.

Lewis et al. 2020, §2.2.  Sentence permutation: the text is cut at full stops, and its parts are shuffled, so that
the model must use their content, not their place.  Text infilling: 30 % of the tokens are masked, in spans whose
lengths are drawn from a Poisson distribution of mean 3; each span becomes one <mask>, and spans of length 0 insert
one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from transformers import PreTrainedTokenizerBase

MASKED, SPAN = 0.3, 3.0
STOPS = (".", "!", "?")


@dataclass(frozen=True)
class Noise:
    """Noise for the pieces of a tokenizer; `stops` are the tokens that end a sentence."""

    mask: int
    stops: frozenset[int]

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> Self:
        """Take mask and stops from a tokenizer."""
        pieces = tokenizer.get_vocab().items()
        stops = frozenset(number for piece, number in pieces if piece.endswith(STOPS))
        return cls(tokenizer.mask_token_id, stops)

    def apply(self, tokens: Sequence[int], draw: np.random.Generator) -> list[int]:
        """Return the tokens of a text, without its ends, permuted and masked."""
        return infill(permute(tokens, self.stops, draw), self.mask, draw)


def permute(tokens: Sequence[int], stops: frozenset[int], draw: np.random.Generator) -> list[int]:
    """Put the sentences of a text, each up to one of `stops`, in random order."""
    sentences: list[list[int]] = [[]]
    for token in tokens:
        sentences[-1].append(token)
        if token in stops:
            sentences.append([])
    return [token for place in draw.permutation(len(sentences)) for token in sentences[place]]


def infill(
    tokens: Sequence[int],
    mask: int,
    draw: np.random.Generator,
    share: float = MASKED,
    span: float = SPAN,
) -> list[int]:
    """Replace spans with ⌈share · n⌉ tokens in all by `mask` in the tokens of a text without its ends."""
    wanted = int(np.ceil(share * len(tokens)))
    lengths: list[int] = []
    while sum(lengths) < wanted:
        lengths.append(min(int(draw.poisson(span)), wanted - sum(lengths)))
    # Ordering spans and single tokens at random gives the spans random places without overlap.
    kept = len(tokens) - wanted
    order = draw.permutation([*range(len(lengths)), *([-1] * kept)])
    noisy: list[int] = []
    place = 0
    for part in order:
        if part < 0:
            noisy.append(tokens[place])
            place += 1
        else:
            noisy.append(mask)
            place += lengths[part]
    return noisy
