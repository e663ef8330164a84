"""Changes to sentence pairs that make them like users' text: case, typos, unseen tokens."""

import random
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from weebill.corpus.cleaning.writing_systems import tokens
from weebill.settings import Ge, Share
from weebill_runtime.languages import primary
from weebill_runtime.unspaced import is_unspaced

Pair = tuple[str, str]

KINDS = ("upper_case", "title_case", "typos", "merged", "placeholders")
DOTTED = ("az", "crh", "gag", "tr", "tt")  # languages in which i and ı are two letters
GREEK_ACCENTS = re.compile("[\u0300\u0301\u0313\u0314\u0342]")  # not the dots of Ϊ and Ϋ
TYPO_SHARE = 0.1  # share of a sentence's words with a typo, at least one
SHORTEST_MISSPELT = 3  # letters
KEYBOARDS = {
    "de": ("qwertzuiopü", "asdfghjklöä", "yxcvbnm"),
    "fr": ("azertyuiop", "qsdfghjklm", "wxcvbn"),
    "ru": ("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
}
QWERTY = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
PUNCTUATION = string.punctuation + "„“”‚‘’«»‹›…–—¿¡"


@dataclass(frozen=True)
class Augmentation:
    """Changed copies of rows that make students robust, like OpusTrainer's modifiers (Bogoychev et al. 2023)."""

    upper_case: Share = 0.0
    """Share of the rows that get a copy in CAPITALS, both sides."""
    title_case: Share = 0.0
    """Share of the rows that get a copy with a Capital Letter at the Beginning of Every Word, both sides."""
    typos: Share = 0.0
    """Share of the rows that get a copy with typos in a tenth of the source's words, at least in one: two letters
    swapped, one left out, one doubled, or one replaced by a neighbouring key (QWERTY; German, French and Russian have
    their own keyboards; other letters have no neighbours)."""
    merged: Share = 0.0
    """Share of the rows that get a copy joined with the next row of the corpus, because users forget line breaks."""
    placeholders: Share = 0.0
    """Share of the rows that get a copy with the same extra token on both sides, which the student learns to copy: a
    number, a web or mail address, or a tag such as `{3}`."""
    max_merged_words: Annotated[int, Ge(2)] = 100
    """Largest number of words on a side of joined rows."""


def changes_by_kind(
    languages: Mapping[str, str],
) -> dict[str, Callable[[Pair, random.Random], Pair]]:
    """Return the functions that change a pair, by kind; languages: codes by side."""
    keys = neighbouring_keys(KEYBOARDS.get(primary(languages["source"]), QWERTY))
    codes = (languages["source"], languages["target"])
    return {
        "upper_case": lambda pair, draw: tuple(map(upper_case, pair, codes)),
        "title_case": lambda pair, draw: tuple(map(title_case, pair, codes)),
        "typos": lambda pair, draw: (misspelt(pair[0], keys, draw), pair[1]),
        "placeholders": with_placeholder,
    }


def upper_case(text: str, language: str) -> str:
    """Return TEXT IN CAPITALS by the rules of a language; Greek capitals have no accents."""
    if primary(language) == "el":
        text = GREEK_ACCENTS.sub("", unicodedata.normalize("NFD", text))
        text = unicodedata.normalize("NFC", text)
    return _with_dots(text, language).upper()


def title_case(text: str, language: str) -> str:
    """Return Text With A Capital At The Beginning Of Every Word; in Dutch, IJ is one letter."""
    letter = r"ij|\w" if primary(language) == "nl" else r"\w"

    def capital(found: re.Match[str]) -> str:
        first = "IJ" if found[2] == "ij" else _with_dots(found[2], language).title()
        return found[1] + first

    return re.sub(rf"(?<!\S)(\W*)({letter})", capital, text)


def _with_dots(text: str, language: str) -> str:
    return text.replace("i", "İ") if primary(language) in DOTTED else text


def neighbouring_keys(rows: tuple[str, ...]) -> dict[str, str]:
    """Return the neighbours of each letter on a keyboard whose rows are shifted by half a key."""
    keys = {(r, c): letter for r, row in enumerate(rows) for c, letter in enumerate(row)}
    around = ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, -1), (1, 0))
    return {
        letter: "".join(keys.get((row + down, column + right), "") for down, right in around)
        for (row, column), letter in keys.items()
    }


def misspelt(text: str, keys: Mapping[str, str], draw: random.Random) -> str:
    """Put a typo into a tenth of the words, at least one; return the text unchanged if no word has three letters."""
    words = text.split(" ")
    letters = [sum(map(str.isalpha, word)) for word in words]
    places = [i for i, count in enumerate(letters) if count >= SHORTEST_MISSPELT]
    count = min(len(places), max(1, round(TYPO_SHARE * len(words))))
    for place in draw.sample(places, count):
        words[place] = _with_typo(words[place], keys, draw)
    return " ".join(words)


def _with_typo(word: str, keys: Mapping[str, str], draw: random.Random) -> str:
    """Swap two letters of a word, omit or double a letter, or replace a letter by a neighbour on the keyboard."""
    letters = [i for i, character in enumerate(word) if character.isalpha()]
    swaps = [i for i in letters if i + 1 in letters and word[i] != word[i + 1]]
    strokes = [i for i in letters if keys.get(word[i].lower())]
    ways = ["drop", "repeat", *(["swap"] * bool(swaps)), *(["neighbour"] * bool(strokes))]
    way = draw.choice(ways)
    at = draw.choice({"swap": swaps, "neighbour": strokes}.get(way, letters))
    if way == "swap":
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if way == "drop":
        return word[:at] + word[at + 1 :]
    if way == "repeat":
        return word[:at] + word[at] + word[at:]
    other = draw.choice(keys[word[at].lower()])
    return word[:at] + (other.upper() if word[at].isupper() else other) + word[at + 1 :]


def with_placeholder(pair: Pair, draw: random.Random) -> Pair:
    """Put a token (number, address or tag) that a translation must copy into both sides of a pair.

    It replaces a name or number that occurs once on both sides; without one, it is put at the beginning or the end.
    """
    token = _token(draw)
    sides, spaces = zip(*map(_divided, pair), strict=True)
    cores = [[word.strip(PUNCTUATION) for word in words] for words in sides]
    once = [{core for core, count in Counter(found).items() if count == 1} for found in cores]
    shared = sorted(
        core
        for core in once[0] & once[1]
        if len(core) > 1 and any(letter.isdigit() or letter.isupper() for letter in core)
    )
    if shared:
        core = draw.choice(shared)
        for words, found in zip(sides, cores, strict=True):
            place = found.index(core)
            words[place] = words[place].replace(core, token, 1)
        return spaces[0].join(sides[0]), spaces[1].join(sides[1])
    if draw.random() < 0.5:
        return f"{token}{spaces[0]}{pair[0]}", f"{token}{spaces[1]}{pair[1]}"
    return f"{pair[0]}{spaces[0]}{token}", f"{pair[1]}{spaces[1]}{token}"


def _divided(text: str) -> tuple[list[str], str]:
    """Return words and " " as their separator; for scripts without spaces, letters (with any spaces) and ""."""
    if text.isascii() or not any(map(is_unspaced, text)):
        return text.split(" "), " "
    parts, end = [], 0
    for token in tokens(text):
        start = text.index(token, end)
        parts += [text[end:start], token]
        end = start + len(token)
    return [*parts, text[end:]], ""


def _token(draw: random.Random) -> str:
    """Draw a number of two to six digits, a web address, a mail address, or a tag {N}."""
    letters = string.ascii_lowercase
    name, place = ("".join(draw.choices(letters, k=draw.randint(3, 9))) for _ in range(2))
    number = str(draw.randrange(10, 10 ** draw.randint(2, 6)))
    addresses = [f"https://www.{name}.org/{place}", f"{name}@{place}.com"]
    return draw.choice([number, *addresses, f"{{{draw.randrange(10)}}}"])
