"""What every filter sees: a batch of normalised pairs, and the settings and models of the cleaning."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weebill.corpus.cleaning.features import Features, measure
from weebill.corpus.cleaning.language_id import LanguageIdentifier
from weebill.corpus.cleaning.overlap import HeldOut
from weebill.corpus.cleaning.rules import Rules
from weebill.experiment.corpora import SIDES, Side


@dataclass(frozen=True)
class Pairs:
    """Rows of a corpus with their languages; monolingual text has one side."""

    sides: tuple[list[str], ...]  # each (rows,), of the sides that `named` names
    languages: tuple[str, ...]
    repeats: np.ndarray  # (rows,) uint8: what deduplication found, see deduplicate.py
    features: tuple[Features, ...]  # of each side
    named: tuple[Side, ...] = SIDES

    @classmethod
    def measured(
        cls,
        sides: tuple[list[str], ...],
        languages: tuple[str, ...],
        repeats: np.ndarray,
        named: tuple[Side, ...] = SIDES,
    ) -> "Pairs":
        """A batch whose features are computed here."""
        return cls(sides, languages, repeats, tuple(map(measure, sides, languages)), named)

    def __len__(self) -> int:
        return len(self.sides[0])

    @property
    def parallel(self) -> bool:
        """Whether there are both sides."""
        return len(self.sides) == 2

    def take(self, rows: np.ndarray) -> "Pairs":
        """The rows of these numbers, as a smaller batch."""
        numbers = rows.tolist()
        return Pairs(
            tuple([side[i] for i in numbers] for side in self.sides),
            self.languages,
            self.repeats[rows],
            tuple(features.take(rows) for features in self.features),
            self.named,
        )


@dataclass(frozen=True)
class Context:
    """What filters decide by; a filter whose part is None rejects nothing."""

    rules: Rules
    identifier: LanguageIdentifier | None = None
    held_out: HeldOut | None = None
    near_duplicates: bool = True


# A filter returns (rows,) bool, True where it rejects; its name is what `dropped_by` shows.
Filter = Callable[[Pairs, Context], np.ndarray]


def none(pairs: Pairs) -> np.ndarray:
    """The verdict that rejects no row: (rows,) False."""
    return np.zeros(len(pairs), bool)


def any_side(pairs: Pairs, test: Callable[[Features], np.ndarray]) -> np.ndarray:
    """(rows,) bool: rows of which at least one side's features pass a test."""
    return np.logical_or.reduce([test(features) for features in pairs.features])
