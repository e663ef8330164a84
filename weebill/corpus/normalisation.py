"""Normalisation that a model's training text had, and that its input gets everywhere.

A vocabulary carries it (weebill/translation/model/vocabulary.py), and so every model folder and export.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from weebill.corpus.cleaning.normalise import Punctuation, normalise, usual_punctuation
from weebill.experiment.corpora import SIDES, Side


@dataclass(frozen=True)
class SideNormalisation:
    """Arguments of `normalise` for the text of a side."""

    language: str
    punctuation: Punctuation


@dataclass(frozen=True)
class Normalisation:
    """Changes of the text of both sides before it is split into pieces."""

    source: SideNormalisation
    target: SideNormalisation

    @classmethod
    def of(
        cls, languages: tuple[str, str], punctuation: Punctuation | None = None
    ) -> "Normalisation":
        """Return what cleaning does to text of source and target language.  punctuation: as in `normalise`."""
        return cls(
            *(SideNormalisation(one, punctuation or usual_punctuation(one)) for one in languages)
        )

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Normalisation":
        """Read what `to_dict` returned.  Raises ValueError, TypeError or KeyError for anything else."""
        sides = [SideNormalisation(**record[side]) for side in SIDES]
        for side in sides:
            if side.punctuation not in ("moses", "keep") or not isinstance(side.language, str):
                raise ValueError(f"no normalisation {side}")
        return cls(*sides)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __call__(self, texts: Iterable[str], side: Side) -> list[str]:
        """Normalise lines of a side as cleaning does."""
        return normalise(texts, **asdict(getattr(self, side)))

    @property
    def folds(self) -> bool:
        """Return True if neither side keeps typographic punctuation."""
        return self.source.punctuation == self.target.punctuation == "moses"
