"""Injected damage to pairs of any corpus; labels of the rows allow to evaluate cleaning."""

import random
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated, Literal, get_args
from unicodedata import category

from weebill.corpus.tatoeba import NAME as EMBEDDED
from weebill.corpus.tatoeba import OTHER_LANGUAGES, read_sentences
from weebill.errors import InputError
from weebill.settings import MinLen, Place, Seed, Share, Unique, section
from weebill.text_files import read_lines

Pair = tuple[str, str]

Damage = Literal["misaligned", "wrong_language", "truncated", "copied"]
KINDS: tuple[Damage, ...] = get_args(Damage)
RECENT = 1024  # earlier undamaged pairs; a misaligned pair gets the target of one of them
MIN_WORDS_TO_CUT = 4


@section
class InjectedNoise:
    """Deliberate damage to a corpus, to test cleaning; the column `noise` labels each damaged row."""

    share: Share
    """Average share of the rows that are damaged."""
    kinds: Annotated[tuple[Damage, ...], MinLen(1), Unique()] = KINDS
    """Kinds of damage, which take turns: another row's target; one side in another language; one side cut short; the
    source on both sides."""
    other_languages: Annotated[tuple[Place, ...], Unique()] = ()
    """Text files for `wrong_language`, plain, `.gz`, `.xz` or `.zst`: row n gets line n of one of them. The word
    `tatoeba` selects embedded French and Dutch sentences."""
    seed: Seed | None = None
    """Seed of the damage; by default derived from the experiment's `seed` and the entry's key path."""


def inject(
    pairs: Iterable[Pair], noise: InjectedNoise, files: Iterable[Path] = ()
) -> Iterator[tuple[str, str, str | None]]:
    """Yield source, target and kind of damage (or None) of all pairs in order; some pairs are damaged.

    files: local paths of `noise.other_languages`.  A pair that cannot be damaged in one way is damaged in another.
    Memory does not depend on the number of pairs.  Raises InputError if a file is missing, empty or not text.
    """
    damage = _Damage(noise)
    others = [_without_end(path) for path in files]
    if EMBEDDED in noise.other_languages:
        others += [cycle(read_sentences(name, held_out=True)) for name in OTHER_LANGUAGES]
    for pair in pairs:
        lines = [next(other) for other in others]
        found = damage.damaged(pair, lines) if damage.draw.random() < noise.share else None
        if found is None:
            damage.recent.append(pair[1])
        yield found or (*pair, None)


def _without_end(path: Path) -> Iterator[str]:
    """Yield the lines of a file again and again.  Raises InputError if the file is empty."""
    if not any(True for _ in islice(read_lines(path), 1)):
        raise InputError(f"{path}: empty file; noise in another language has at least one line")
    while True:
        yield from read_lines(path)


class _Damage:
    """State of the damage to consecutive pairs.  recent: earlier targets, one of which a misaligned pair gets."""

    def __init__(self, noise: InjectedNoise) -> None:
        self.draw = random.Random(noise.seed)
        self.kinds = noise.kinds
        self.recent: deque[str] = deque(maxlen=RECENT)
        self.turn: list[str] = []

    def damaged(self, pair: Pair, lines: list[str]) -> tuple[str, str, str] | None:
        """Damage a pair by the first possible kind of this turn; return None if no kind is possible."""
        if not self.turn:
            self.turn = self.draw.sample(self.kinds, len(self.kinds))
        # Kinds that already had their turn come last; they are used if no other kind is possible.
        for kind in [*self.turn, *(kind for kind in self.kinds if kind not in self.turn)]:
            found = getattr(self, f"_{kind}")(pair, lines)
            if found is not None and found != pair:
                self.turn = [other for other in self.turn if other != kind]
                return *found, kind
        return None

    def _misaligned(self, pair: Pair, lines: list[str]) -> Pair | None:
        return (pair[0], self.draw.choice(self.recent)) if self.recent else None

    def _wrong_language(self, pair: Pair, lines: list[str]) -> Pair | None:
        line = self.draw.choice(lines)
        if not line.strip():
            return None
        return (line, pair[1]) if self.draw.random() < 0.5 else (pair[0], line)

    def _truncated(self, pair: Pair, lines: list[str]) -> Pair | None:
        """Cut off one side within its first half; return None if that side is too short."""
        first = self.draw.random() < 0.5
        text = pair[not first]
        ends = _word_ends(text)
        if len(ends) < MIN_WORDS_TO_CUT:
            return None
        cut = text[: ends[int(self.draw.random() * (len(ends) // 2))]]
        return (cut, pair[1]) if first else (pair[0], cut)

    def _copied(self, pair: Pair, lines: list[str]) -> Pair | None:
        return pair[0], pair[0]


def _word_ends(text: str) -> list[int]:
    """Return the position after each word; of few words, after each letter without case, such as those of Thai."""
    ends = [*(place for place, letter in enumerate(text) if letter == " "), len(text)]
    if len(ends) >= MIN_WORDS_TO_CUT:
        return ends
    ends, inside = [], False
    for place, kind in enumerate([*map(category, text), "end"]):
        if kind[0] != "M":
            if inside:
                ends.append(place)
            inside = kind == "Lo"
    return ends
