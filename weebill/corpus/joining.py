"""Sentences joined to one line, and the number of its words, in any writing system."""

import unicodedata
from collections.abc import Iterable

from weebill.corpus.cleaning.writing_systems import is_unspaced, words


def join_sentences(parts: Iterable[tuple[str, str]]) -> str:
    """Join sentences, each with the white space after it: Han and kana have none, other scripts at least one."""
    text, space = "", ""
    for sentence, after in parts:
        if text and sentence:
            text += space.strip(" ") if _is_wide(text[-1]) else space or " "
        text, space = text + sentence, after
    return text


def count_words(text: str) -> int:
    """Count words between spaces; where a script has no spaces, letters, as cleaning does."""
    if text.isascii() or not any(map(is_unspaced, text)):
        return len(text.split())
    return len(words(text))


def _is_wide(character: str) -> bool:
    """Return True for a letter or mark of Chinese and Japanese, which fills a square."""
    square = unicodedata.east_asian_width(character) in "WF"
    return square and (is_unspaced(character) or unicodedata.category(character)[0] == "P")
