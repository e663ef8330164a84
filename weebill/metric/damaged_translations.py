"""Translations with a changed number, a changed name or a word left out, which a metric should score lower.

COMETINHO §8 leaves open whether small metrics notice changed numbers and names, as Amrhein and Sennrich (2022) ask of
COMET.  A word left out is damage that people notice too; it shows how large a drop to expect.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from weebill.errors import InputError
from weebill.metric.judged_set import JudgedSet
from weebill.metric.judgements import language_pairs

HEADINGS = ("system", "seg_id", "lp", "source", "reference", "hypothesis", "score")
NUMBERS = re.compile(r"(?<![\w.,])[0-9]+(?:[.,][0-9]+)*(?!\w)")
WORDS = re.compile(r"\w+")
LEAST_NAME = 3  # letters
LEAST_WORDS = 5  # words of a translation that loses one


@dataclass(frozen=True)
class Segment:
    """Texts of a judged translation."""

    source: str
    translation: str
    reference: str


def damaged(segments: Sequence[Segment], most: int, seed: int) -> dict[str, dict[int, str]]:
    """Damage translations in each way of DAMAGES: at most `most` of those that allow it, drawn at random.

    Return the new texts by the row of their segment, in ascending order.

    A number or a name is changed only if source and reference contain the same one, letter by letter.  A name is a
    word with a capital inside the translation; another name of the segments takes its place.  Damages that no segment
    allows are left out.
    """
    names = sorted({name[0] for one in segments for name in _names(one)})
    found = {}
    for number, (kind, change) in enumerate(DAMAGES.items()):
        draw = np.random.default_rng([seed, number])
        texts: dict[int, str] = {}
        for row in draw.permutation(len(segments)):
            if len(texts) == most:
                break
            text = change(segments[row], names, draw)
            if text is not None:
                texts[int(row)] = text
        if texts:
            found[kind] = dict(sorted(texts.items()))
    return found


def damaged_table(judged: JudgedSet, most: int, seed: int) -> str:
    """Return a table of judgements with a set's damaged translations: system is the damage, seg_id the row.

    Its scores are 0.  Raises InputError if no translation can be damaged.
    """
    columns = (judged.judgements[name] for name in ("src", "mt", "ref"))
    segments = [Segment(*one) for one in zip(*columns, strict=True)]
    pairs = language_pairs(judged.judgements)
    lines = [
        (kind, row, pairs[row], segments[row].source, segments[row].reference, text, 0)
        for kind, texts in damaged(segments, most, seed).items()
        for row, text in texts.items()
    ]
    if not lines:
        raise InputError(
            f"{judged.name}: no translation has a number or name that source and reference have too, nor "
            f"{LEAST_WORDS} words; remove evaluation.robustness"
        )
    return "".join("\t".join(map(str, line)) + "\n" for line in (HEADINGS, *lines))


def _change_number(one: Segment, names: Sequence[str], draw: np.random.Generator) -> str | None:
    """Change a digit of a number; a first digit does not become 0."""
    shared = {*NUMBERS.findall(one.source)} & {*NUMBERS.findall(one.reference)}
    places = [place for place in NUMBERS.finditer(one.translation) if place[0] in shared]
    if not places:
        return None
    place = places[draw.integers(len(places))]
    digits = [at for at in range(place.start(), place.end()) if one.translation[at].isdigit()]
    at = digits[draw.integers(len(digits))]
    others = [digit for digit in "0123456789" if digit != one.translation[at]]
    if at == place.start():
        others = [digit for digit in others if digit != "0"]
    return one.translation[:at] + others[draw.integers(len(others))] + one.translation[at + 1 :]


def _names(one: Segment) -> list[re.Match[str]]:
    """Return the places of names in the translation, but not at its beginning."""
    shared = {*WORDS.findall(one.source)} & {*WORDS.findall(one.reference)}
    places = list(WORDS.finditer(one.translation))[1:]
    return [
        place
        for place in places
        if place[0] in shared
        and place[0][0].isupper()
        and place[0].isalpha()
        and len(place[0]) >= LEAST_NAME
    ]


def _change_name(one: Segment, names: Sequence[str], draw: np.random.Generator) -> str | None:
    places = _names(one)
    own = {*WORDS.findall(f"{one.source} {one.reference} {one.translation}")}
    others = [name for name in names if name not in own] if places else []
    if not others:
        return None
    place, name = places[draw.integers(len(places))], others[draw.integers(len(others))]
    return one.translation[: place.start()] + name + one.translation[place.end() :]


def _leave_out(one: Segment, names: Sequence[str], draw: np.random.Generator) -> str | None:
    words = one.translation.split(" ")
    if len(words) < LEAST_WORDS:
        return None
    gone = draw.integers(1, len(words))
    return " ".join(word for at, word in enumerate(words) if at != gone)


DAMAGES: dict[str, Callable[[Segment, Sequence[str], np.random.Generator], str | None]] = {
    "number": _change_number,
    "name": _change_name,
    "word": _leave_out,
}
