"""What a search is asked for, and what it returns."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from goldcrest.translation.vocabulary import EOS


@dataclass(frozen=True)
class SearchOptions:
    """How to search; length normalisation and cropping are the papers'.

    beam: hypotheses followed at once; 1 is greedy.  nbest: hypotheses returned, at most `beam`.
    length_normalisation: a hypothesis scores log p / length^this, its end counted (0: log p alone).
    length_factor, length_constant: a translation has at most factor·source + constant pieces, its
    end counted; what reaches this length is ended there.
    max_source_tokens: longer inputs are cropped.
    batch_size, batch_tokens: sentences, and source pieces with padding, of a batch at most.
    allow_unknown: whether UNK may stand in a translation; not asked of Hugging Face models.
    Raises ValueError where `nbest` is more than `beam`, or a number of things is less than 1.
    """

    beam: int = 1
    nbest: int = 1
    length_normalisation: float = 1.0
    length_factor: float = 1.5
    length_constant: int = 10
    max_source_tokens: int = 200
    batch_size: int = 32
    batch_tokens: int = 4096
    allow_unknown: bool = False

    def __post_init__(self) -> None:
        for name in ("beam", "nbest", "max_source_tokens", "batch_size", "batch_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.nbest > self.beam:
            raise ValueError(f"nbest {self.nbest} needs a beam of at least {self.nbest}")

    def crop(self, source: Sequence[int]) -> list[int]:
        """A source, whose last piece is EOS, with no more pieces before that than are searched for."""
        return [*source[:-1][: self.max_source_tokens], EOS]

    def limit(self, source_tokens: int) -> int:
        """Pieces of a translation at most, its end counted, of a source of so many pieces."""
        return max(1, math.ceil(self.length_factor * source_tokens) + self.length_constant)


@dataclass(frozen=True)
class Candidate:
    """A translation in pieces without its end; score = log p / length^length_normalisation."""

    tokens: tuple[int, ...]
    score: float
