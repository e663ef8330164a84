"""Importer `tatoeba`: sentence pairs that are part of the library."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weebill.corpus.importers import Importer, Languages, Rows, Sources
from weebill.corpus.sources import Problem
from weebill.corpus.tatoeba import PAIR_LANGUAGES, pair_numbers, read_pairs
from weebill.errors import InputError, abridged
from weebill.experiment.corpora import Entry, sides_of
from weebill.settings import Amount, Count, section
from weebill_runtime.names import SIDES, Side

MOST_SHOWN = 40  # characters of a number in a message


@section
class TatoebaImporter(Importer):
    """English–German pairs that come with Weebill.

    They are 20,000 short pairs of common words from [Tatoeba](https://tatoeba.org), CC BY 2.0 France
    ([their origin](../weebill/corpus/tatoeba/NOTICE.md)).
    """

    pairs: Count
    """Number of pairs."""
    skip: Amount | None = None
    """Number of embedded pairs to skip; by default the pairs of all earlier entries, so that no pair is read twice:
    validation and test sets come first, then the corpora."""
    source_words: Count | None = None
    """Leave out pairs with an English word that is not among this number of the commonest words; the embedded pairs
    have 785. `pairs` and `skip` count the remaining pairs; give all entries the same limits."""
    target_words: Count | None = None
    """Same as `source_words`, for German words; the embedded pairs have 1,119."""
    longest: Count | None = None
    """Leave out pairs with more words than this on a side."""

    def __post_init__(self) -> None:
        skip, most = self.skip or 0, len(_numbers(vars(self)))
        if skip < 0 or not 1 <= self.pairs <= most - skip:
            raise InputError(
                f"importer tatoeba: pairs is {self.pairs} after {skip} to skip, expected at least 1 "
                f"and no more than the {most:,} embedded pairs in all"
            )

    @classmethod
    def faults(cls, entry: Entry) -> Iterator[Problem]:
        """Find entries that need more pairs than there are."""
        pairs, skip = entry.values["pairs"], entry.values["skip"]
        if skip + pairs > (most := len(_numbers(entry.values))):
            many, before = (abridged(f"{number:,}", MOST_SHOWN) for number in (pairs, skip))
            found = f"found {many} after {before} that are skipped or read by other entries"
            expected = f"expected no more than the {most:,} embedded pairs in all"
            yield (*entry.path, "pairs"), f"{found}, {expected}"

    @classmethod
    def origins(cls, values: Mapping[str, Any]) -> set[str]:
        """Name each pair."""
        numbers = _numbers(values)[values["skip"] :][: values["pairs"]]
        return {f"pair {number:,} of the embedded text" for number in numbers}

    def rows(self, sources: Sources, languages: Languages, monolingual: Side | None) -> Rows:
        """Yield the pairs, or one side of them.  Raises InputError if the languages are not English to German."""
        if languages != PAIR_LANGUAGES:
            message = f"importer tatoeba: the embedded pairs are en-de, not {'-'.join(languages)}"
            raise InputError(message)
        wanted = sides_of(monolingual)
        for pair in read_pairs(self.pairs, self.skip or 0, *_chosen(vars(self))):
            yield tuple(t if side in wanted else None for side, t in zip(SIDES, pair, strict=True))


def _chosen(values: Mapping[str, Any]) -> list[int | None]:
    """Return the arguments of `pair_numbers`."""
    return [values.get(key) for key in ("source_words", "target_words", "longest")]


def _numbers(values: Mapping[str, Any]) -> Sequence[int]:
    return pair_numbers(*_chosen(values))
