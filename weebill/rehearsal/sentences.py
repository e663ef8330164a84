"""Stand-in sentences in any language: embedded English-German pairs, and a cipher of the English for others.

A cipher replaces each letter by a fixed one of the language's script, so that vocabularies, cleaning and
trainings meet text of the right script, and translations can be learnt.
"""

from functools import cache
from itertools import cycle, islice

from weebill.corpus.language_codes import scripts
from weebill.corpus.tatoeba import PAIR_LANGUAGES, PAIRS, read_pairs

LETTERS = "abcdefghijklmnopqrstuvwxyz"
UNSPACED = {"Jpan", "Hans", "Hant", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"}
# First of 26 successive letters of a script; those of others are Latin, in another order for each language.
FIRST_LETTERS = {
    "Arab": 0x0627,
    "Armn": 0x0561,
    "Beng": 0x0995,
    "Cyrl": 0x0430,
    "Deva": 0x0915,
    "Ethi": 0x1200,
    "Geor": 0x10D0,
    "Grek": 0x03B1,
    "Gujr": 0x0A95,
    "Hans": 0x4E00,
    "Hant": 0x4E00,
    "Hebr": 0x05D0,
    "Jpan": 0x3042,
    "Kore": 0xAC00,
    "Taml": 0x0B95,
    "Telu": 0x0C15,
    "Thai": 0x0E01,
}


def pairs(languages: tuple[str, str], first: int, count: int) -> list[tuple[str, str]]:
    """Return `count` pairs of sentences in two languages, from number `first` on; after the last comes the first."""
    return [
        (said(languages[0], *pair), said(languages[1], *pair))
        for pair in islice(cycle(_every_pair()), first % PAIRS, first % PAIRS + count)
    ]


def said(language: str, english: str, german: str) -> str:
    """Return a sentence in a language."""
    if language in PAIR_LANGUAGES:
        return (english, german)[PAIR_LANGUAGES.index(language)]
    script = next(iter(scripts(language)), "Latn")
    text = english.translate(_cipher(language, script))
    return text.replace(" ", "") if script in UNSPACED else text


@cache
def _every_pair() -> list[tuple[str, str]]:
    return read_pairs()


@cache
def _cipher(language: str, script: str) -> dict[int, str]:
    first = FIRST_LETTERS.get(script)
    turned = sum(map(ord, language)) % (len(LETTERS) - 1) + 1
    others = [chr(first + number) for number in range(len(LETTERS))] if first else LETTERS
    letters = [others[(number + turned) % len(LETTERS)] for number in range(len(LETTERS))]
    small = {ord(one): other for one, other in zip(LETTERS, letters, strict=True)}
    return small | {ord(chr(one).upper()): other.upper() for one, other in small.items()}
