"""Sentences of tatoeba.org that are part of the library (CC BY 2.0 France; see NOTICE.md in this folder)."""

import lzma
import math
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path

FOLDER = Path(__file__).parent
NAME = "tatoeba"  # name of this text in a configuration
PAIRS = 20_000
PAIR_BYTES = 60  # average bytes of a pair as plain text
PAIR_LANGUAGES = ("en", "de")
OTHER_LANGUAGES = ("fr", "nl")
LANGUAGES = PAIR_LANGUAGES + OTHER_LANGUAGES
SENTENCES = 3000  # of each language
TRAINING = 2000  # first sentences of each language; the language identifier is trained on them


def read_pairs(count: int = PAIRS, skip: int = 0, *chosen: int | None) -> list[tuple[str, str]]:
    """Return `count` English-German pairs in their fixed order, from pair `skip` on, counted from 0.

    chosen: arguments of `pair_numbers`; `count` and `skip` then count the pairs that it returns.
    No English or German sentence occurs twice in the pairs.
    """
    numbers = pair_numbers(*chosen)[skip : skip + count]
    rows = _rows("pairs.tsv.xz", 0, numbers[-1] + 1) if numbers else []
    return [(rows[number][0], rows[number][1]) for number in numbers]


@cache
def pair_numbers(
    source_words: int | None = None, target_words: int | None = None, longest: int | None = None
) -> Sequence[int]:
    """Return the numbers of the pairs of the commonest words, in order, counted from 0.

    Every word of a pair is among the commonest `source_words` or `target_words` of its side in all pairs, and no side
    has more than `longest` words; None: no limit.  Each start of a workflow calls this, so ranks and lengths are read
    from a file (NOTICE.md).
    """
    limits = (source_words, target_words, longest)
    if limits == (None, None, None):
        return range(PAIRS)
    most = [math.inf if limit is None else limit for limit in limits]
    rows = enumerate(_rows("ranks.tsv.xz", 0, PAIRS))
    return [
        number
        for number, (source, target, words) in rows
        if int(source) <= most[0] and int(target) <= most[1] and int(words) <= most[2]
    ]


def read_sentences(language: str, held_out: bool = False) -> list[str]:
    """Return the sentences of one of LANGUAGES for training the language identifier; none occurs in the pairs.

    held_out: return the other sentences instead, which are not used for training.
    """
    first, last = (TRAINING, SENTENCES) if held_out else (0, TRAINING)
    start = LANGUAGES.index(language) * SENTENCES
    return [row[1] for row in _rows("languages.tsv.xz", start + first, start + last)]


def _rows(name: str, first: int, last: int) -> list[list[str]]:
    with lzma.open(FOLDER / name, "rt", encoding="utf-8", newline="\n") as lines:
        return [line.removesuffix("\n").split("\t") for line in islice(lines, first, last)]
