"""Cuts of sentences that are longer than a search reads: counts and reports."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weebill.translation.search.options import SearchOptions


@dataclass(frozen=True)
class Cut:
    """Sentence of which only the beginning is translated.

    sentence: its place in the input, from 0.  pieces: its length.  kept: pieces that are translated, the first ones.
    """

    sentence: int
    pieces: int
    kept: int

    def __str__(self) -> str:
        return f"{self.pieces} pieces, cut to the first {self.kept}"


OnCut = Callable[[Cut], None]


def find_cuts(sources: Sequence[Sequence[int]], options: SearchOptions) -> list[Cut]:
    """Return the sources, pieces with EOS last, that `options.crop` shortens; EOS is not counted."""
    most = options.max_source_tokens
    return [
        Cut(number, len(source) - 1, most)
        for number, source in enumerate(sources)
        if len(source) - 1 > most
    ]


def log_cut(cut: Cut) -> None:
    """Log a warning that gives the sentence's place in the input, from 1."""
    cut_logger("sentence ")(cut)


def cut_logger(place: str) -> OnCut:
    """Return a function that logs each cut as a warning, as `PLACE` and the line's number, from 1."""

    def log(cut: Cut) -> None:
        logging.warning("%s%d: %s", place, cut.sentence + 1, cut)

    return log


def ignore_cut(cut: Cut) -> None:
    """Do nothing: for timing, because other jobs translate the same sentences and log their cuts."""


def log_cut_count(place: str, sources: Sequence[Sequence[int]], options: SearchOptions) -> None:
    """Log the number of cut sources in one line, if any: for texts that are translated many times."""
    if cuts := find_cuts(sources, options):
        logging.warning("%s", count_line(place, len(cuts), len(sources), options.max_source_tokens))


def count_line(place: str, cuts: int, sentences: int, kept: int) -> str:
    """Return one line with the number of cut sentences of a text."""
    return f"{place}: {cuts:,} of {sentences:,} sentences have more than {kept} pieces, cut to the first {kept}"
