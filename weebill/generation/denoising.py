"""BART's pre-training task: text whose sentences changed places and whose spans were masked is to be given whole.

Lewis et al. 2020, §2.2.  Sentence permutation: the text is cut at full stops, and its parts are shuffled, so that
they can be copied by what they say alone, not by their place.  Text infilling: 30 % of the tokens are masked, in
spans whose lengths are drawn from a Poisson distribution of mean 3; each span becomes one <mask>, and spans of length
0 insert one.
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
    """The tokens that noise goes by.  stops: those that end a sentence."""

    mask: int
    stops: frozenset[int]

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> Self:
        """By a tokenizer's own mask and pieces."""
        pieces = tokenizer.get_vocab().items()
        stops = frozenset(number for piece, number in pieces if piece.endswith(STOPS))
        return cls(tokenizer.mask_token_id, stops)

    def apply(self, tokens: Sequence[int], draw: np.random.Generator) -> list[int]:
        """The tokens of a text, without its ends, permuted and masked."""
        return infill(permute(tokens, self.stops, draw), self.mask, draw)


def permute(tokens: Sequence[int], stops: frozenset[int], draw: np.random.Generator) -> list[int]:
    """The tokens in sentences, each up to one of `stops`, in random order."""
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
    """The tokens of a text, without its ends, with spans of ⌈share · n⌉ of them replaced by `mask` in all."""
    wanted = int(np.ceil(share * len(tokens)))
    lengths: list[int] = []
    while sum(lengths) < wanted:
        lengths.append(min(int(draw.poisson(span)), wanted - sum(lengths)))
    # Spans and single tokens in random order are the text with its spans at random places, none overlapping.
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
