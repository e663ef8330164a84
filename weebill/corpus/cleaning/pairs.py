"""Arguments of every filter: a batch of normalised pairs, and the settings and models of the cleaning."""

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

    sides: tuple[list[str], ...]  # texts (rows,) of each side in `named`
    languages: tuple[str, ...]
    repeats: np.ndarray  # (rows,) uint8: verdicts of deduplicate.py
    features: tuple[Features, ...]  # features of each side
    named: tuple[Side, ...] = SIDES

    @classmethod
    def measured(
        cls,
        sides: tuple[list[str], ...],
        languages: tuple[str, ...],
        repeats: np.ndarray,
        named: tuple[Side, ...] = SIDES,
    ) -> "Pairs":
        """Make a batch and compute its features."""
        return cls(sides, languages, repeats, tuple(map(measure, sides, languages)), named)

    def __len__(self) -> int:
        return len(self.sides[0])

    @property
    def parallel(self) -> bool:
        """True if the pairs have both sides."""
        return len(self.sides) == 2

    def take(self, rows: np.ndarray) -> "Pairs":
        """Return the rows with the numbers `rows` as a smaller batch."""
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
    """Settings, model and held-out text of the filters; a filter whose part is None rejects nothing."""

    rules: Rules
    identifier: LanguageIdentifier | None = None
    held_out: HeldOut | None = None
    near_duplicates: bool = True


# A filter returns (rows,) bool, True for the rows that it rejects; `dropped_by` shows its name.
Filter = Callable[[Pairs, Context], np.ndarray]


def none(pairs: Pairs) -> np.ndarray:
    """Return the verdict that rejects no row: (rows,) False."""
    return np.zeros(len(pairs), bool)


def any_side(pairs: Pairs, test: Callable[[Features], np.ndarray]) -> np.ndarray:
    """Return the rows, (rows,) bool, for which the features of at least one side pass a test."""
    return np.logical_or.reduce([test(features) for features in pairs.features])
