"""Repetition of words and phrases, as in "the house house house house", line by line."""

import re
from functools import cache

from weebill.corpus.cleaning.writing_systems import tokens
from weebill_runtime.characters import character_class
from weebill_runtime.unspaced import is_unspaced

LONGEST_PHRASE = 12  # words of the longest phrase whose repetition is found
LONG_WORD = 20  # characters of the shortest word that is searched for repeated parts: zigzigzig…


def stutters(text: str, most: int) -> bool:
    """Return True if a line says a word, or a phrase of up to LONGEST_PHRASE words, over `most` times in a row.

    A single letter of a script without spaces may be said twice as often, because laughter repeats it; punctuation
    does not count.
    """
    words = [token for token in tokens(text) if token[0].isalpha() or token[0].isdecimal()]
    longest = min(LONGEST_PHRASE, (len(words) - len(set(words))) // most)
    for size in range(1, longest + 1):
        run = 0
        for word, next_word in zip(words, words[size:], strict=False):
            run = run + 1 if word == next_word and word[0].isalpha() else 0
            letter = size == 1 and is_unspaced(word[0])
            if run >= most * size * (1 + letter):
                return True
    return any(repeats_a_part(word, most) for word in words if len(word) >= LONG_WORD)


def repeats_a_part(word: str, most: int) -> bool:
    """Return True if a word says a part of at least two letters or marks more than `most` times in a row."""
    return _part(most).search(word) is not None


@cache
def _part(most: int) -> re.Pattern[str]:
    letter, marked = r"[^\W\d_]", rf"(?:[^\W\d_]|[{character_class('M')}])"
    return re.compile(rf"({letter}{marked}{{1,{LONGEST_PHRASE - 1}}}?)\1{{{most},}}")
