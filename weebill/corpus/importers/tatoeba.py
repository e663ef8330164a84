"""Importer `tatoeba`: sentence pairs that are part of the library."""

from collections.abc import Iterator
from dataclasses import dataclass

from weebill.corpus.sources import Places, Source
from weebill.corpus.tatoeba import PAIR_LANGUAGES, PAIRS, read_pairs
from weebill.errors import InputError
from weebill.experiment.corpora import SIDES, Side, sides_of


@dataclass(frozen=True)
class TatoebaImporter:
    """Embedded English-German pairs: `pairs` of them, after the first `skip`."""

    pairs: int
    skip: int = 0

    def __post_init__(self) -> None:
        if self.skip < 0 or not 1 <= self.pairs <= PAIRS - self.skip:
            raise InputError(
                f"importer tatoeba: pairs is {self.pairs} after {self.skip} to skip, expected at least 1 "
                f"and no more than the {PAIRS:,} embedded pairs in all"
            )

    def local_files(self) -> list[str]:
        """Return none: the pairs are part of the library."""
        return []

    def sources(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> list[Source]:
        """Return none: the pairs are part of the library."""
        return []

    def rows(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> Iterator[tuple]:
        """Yield the pairs, or one side of them.  Raises InputError if the languages are not English to German."""
        if languages != PAIR_LANGUAGES:
            raise InputError(
                f"importer tatoeba: the embedded pairs are en-de, not {'-'.join(languages)}"
            )
        sides = sides_of(monolingual)
        for pair in read_pairs(self.pairs, self.skip):
            yield tuple(
                text if side in sides else None for side, text in zip(SIDES, pair, strict=True)
            )
