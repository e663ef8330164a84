"""Sentences of tatoeba.org that are part of the library (CC BY 2.0 France; see NOTICE.md in this folder)."""

import lzma
from itertools import islice
from pathlib import Path

FOLDER = Path(__file__).parent
NAME = "tatoeba"  # the word that stands for this text in a configuration
PAIRS = 20_000
PAIR_BYTES = 60  # of plain text, both sides, on average
PAIR_LANGUAGES = ("en", "de")
OTHER_LANGUAGES = ("fr", "nl")
LANGUAGES = PAIR_LANGUAGES + OTHER_LANGUAGES
SENTENCES = 3000  # of each language
TRAINING = 2000  # first sentences of each language, on which the language identifier is trained


def read_pairs(count: int = PAIRS, skip: int = 0) -> list[tuple[str, str]]:
    """Return `count` English-German pairs in their fixed order, from pair `skip` on, counted from 0.

    No English sentence occurs twice in the pairs, and no German one.
    """
    return [(row[0], row[1]) for row in _rows("pairs.tsv.xz", skip, skip + count)]


def read_sentences(language: str, held_out: bool = False) -> list[str]:
    """Return the sentences of one of LANGUAGES on which the language identifier is trained; none occurs in the pairs.

    held_out: return the other sentences instead, on which it is not trained.
    """
    first, last = (TRAINING, SENTENCES) if held_out else (0, TRAINING)
    start = LANGUAGES.index(language) * SENTENCES
    return [row[1] for row in _rows("languages.tsv.xz", start + first, start + last)]


def _rows(name: str, first: int, last: int) -> list[list[str]]:
    with lzma.open(FOLDER / name, "rt", encoding="utf-8", newline="\n") as lines:
        return [line.removesuffix("\n").split("\t") for line in islice(lines, first, last)]
