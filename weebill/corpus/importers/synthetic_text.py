"""Importer `synthetic`: pairs of the embedded grammar."""

from collections.abc import Iterator
from dataclasses import dataclass

from weebill.corpus.sources import Places, Source
from weebill.errors import InputError
from weebill.experiment.corpora import SIDES, Side, sides_of


@dataclass(frozen=True)
class SyntheticImporter:
    """Pairs of the embedded English-German grammar; `noise` is the share of damaged, labelled pairs."""

    pairs: int
    noise: float = 0.0
    seed: int = 1

    def __post_init__(self) -> None:
        if self.pairs < 1:
            raise InputError(f"importer synthetic: pairs is {self.pairs}, expected at least 1")
        if not 0 <= self.noise <= 1:
            raise InputError(f"importer synthetic: noise is {self.noise}, expected 0 to 1")

    def local_files(self) -> list[str]:
        """Nothing: the grammar is part of the library."""
        return []

    def sources(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> list[Source]:
        """None: nothing is read."""
        return []

    def rows(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> Iterator[tuple]:
        """English-German pairs with their noise label (None = undamaged)."""
        from weebill.corpus.synthetic import generate

        if languages != ("en", "de"):
            raise InputError(
                f"importer synthetic: the embedded grammar is en-de, not {'-'.join(languages)}"
            )
        for row in generate(self.pairs, self.seed, self.noise):
            sides = sides_of(monolingual)
            yield *(row[side] if side in sides else None for side in SIDES), row["noise"]
