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
    lengths = [len(source) - 1 for source in sources]
    return [Cut(number, length, most) for number, length in enumerate(lengths) if length > most]


def cut_logger(place: str) -> OnCut:
    """Return a function that logs each cut as a warning, as `PLACE` and the line's number, from 1."""
    return lambda cut: logging.warning("%s%d: %s", place, cut.sentence + 1, cut)


def ignore_cut(cut: Cut) -> None:
    """Do nothing: for timing, because other jobs translate the same sentences and log their cuts."""


def log_cut_count(place: str, cuts: int, sentences: int, kept: int) -> None:
    """Log the number of a text's sentences that were cut to `kept` pieces, if any, in one line."""
    if cuts:
        logging.warning(
            f"{place}: {cuts:,} of {sentences:,} sentences have more than {kept} pieces, cut to the first {kept}"
        )
