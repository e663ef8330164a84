"""Places at which a text that is too long is divided, from the ends of sentences to the spaces between words.

sentencex (Wikimedia) finds the ends of sentences: it needs no download, and knows abbreviations of many languages.
It does not look into quotes and brackets; a second pass hides them.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain

from weebill_runtime.characters import character_class
from weebill_runtime.unspaced import INSIDE, is_wide

Division = Callable[[str, str], list[str]]  # text and language, to parts that together are the text

_ENDS = ";:؛·፤፥"  # end a clause before a space
_UNSPACED_ENDS = "；：。！？｡．…။។៕៖།༎༏༐༑༔"  # also without a space
_COMMAS = "，、､၊—"  # end a phrase without a space
# Between words: zero-width space, Tibetan tsheg, Ethiopic wordspace.  White space is one, too.
_WORD_ENDS = "\u200b་፡"
_BLOCK = 4000  # fewest characters of a block
_WIDE_SPACE = re.compile(r"[^\S\x00-\x7f]")  # of several bytes


def sentences(text: str, language: str) -> list[str]:
    """Divide a text at the ends of its sentences; text in quotes or brackets stays whole."""
    return _divided(text, _sentence_ends(text, language))


def sentences_in_quotes(text: str, language: str) -> list[str]:
    """Divide a text at the ends of its sentences, also of those in quotes or brackets."""
    return _divided(text, _sentence_ends(_without_quotes(text), language))


def clauses(text: str, language: str) -> list[str]:
    """Divide a text after semicolons and the like, and at spaces in scripts without spaces between words."""
    return _divided(text, _ends(_clause_end(), text))


def phrases(text: str, language: str) -> list[str]:
    """Divide a text after commas, and after every other sign before a space."""
    return _divided(text, _ends(_phrase_end(), text))


def words(text: str, language: str) -> list[str]:
    """Divide a text between its words."""
    return _divided(text, _ends(_word_end(), text))


def _divided(text: str, ends: Iterable[int]) -> list[str]:
    """Return the parts of a text; closing brackets and white space belong to the part before them."""
    parts, start = [], 0
    for end in (*ends, len(text)):
        end = _after().match(text, end).end()
        if text[start:end].strip():
            parts.append(text[start:end])
            start = end
    return parts


def _ends(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    return (found.end() for found in pattern.finditer(text))


def _sentence_ends(text: str, language: str) -> Iterator[int]:
    import sentencex

    start = 0
    # sentencex panics at a capital letter with such a space before its full stop.
    blocks = _block().findall(_WIDE_SPACE.sub(" ", text))
    for segment in chain.from_iterable(sentencex.segment(language, block) for block in blocks):
        end = start + len(segment.rstrip())
        start += len(segment)
        after = _after().match(text, end).end()
        # A mark of ASCII inside a word or number is no end: ٣.٥, พ.ศ., and “네.”라고 with its particle.
        spaced = after > end and text[after - 1].isspace()
        if spaced or after == len(text) or is_wide(text[after]) or not _ascii_stop(segment):
            yield end


@cache
def _block() -> re.Pattern[str]:
    """Return the pattern of a block of text, which ends with a Chinese or Japanese sentence, or is the rest.

    sentencex takes quadratic time for sentences without spaces between them.
    """
    stop = rf"[。！？｡](?![{_UNSPACED_ENDS}{_closing()}\s])"
    return re.compile(rf".{{{_BLOCK}}}.*?{stop}|.+", re.DOTALL)


def _ascii_stop(segment: str) -> bool:
    """Return True if a sentence ends in a mark of ASCII, with or without a closing quote."""
    return _quoted_stop().match(segment[::-1].lstrip()) is not None


def _without_quotes(text: str) -> str:
    """Return a text of the same length without quotes and brackets, in which sentences end at the same places."""
    stop, quotes = _quotes()
    # sentencex would divide between a stop and the quote after it, and takes "*Dr." for the end of a sentence.
    text = stop.sub(lambda found: "*" * len(found[2] or "") + found[1], text)
    return quotes.sub(lambda found: (" " if found[1] else "*") * len(found[0]), text)


@cache
def _quotes() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of stops, with the quotes after them, and of quotes and brackets, with the letter after them.

    A run of either is matched once, whatever follows; otherwise a line of dots takes quadratic time.
    """
    quotes, signs = _quote_marks(), character_class("Po")
    after_stop = rf"[{_closing()}]+|[{quotes}]+(?=\s|$)"
    return (
        re.compile(rf"((?:(?![{quotes}])[{signs}])+)({after_stop})?"),
        re.compile(rf"(?<=\w)[{quotes}]|[{quotes}]+(?=(\w)?)"),
    )


@cache
def _quote_marks() -> str:
    return character_class("Ps", "Pe", "Pi", "Pf") + "\"'`´＂＇<>"


@cache
def _after() -> re.Pattern[str]:
    return re.compile(rf"[{_closing()}]*\s*")


def _closing() -> str:
    return character_class("Pe", "Pf")


@cache
def _quoted_stop() -> re.Pattern[str]:
    return re.compile(rf"[{_quote_marks()}]*[.!?]")


@cache
def _clause_end() -> re.Pattern[str]:
    before_space = rf"(?:[{INSIDE}]|[{_ENDS}][{_quote_marks()}]*)(?=\s)"
    return re.compile(rf"{before_space}|[{_UNSPACED_ENDS}]+[{_closing()}]*")


@cache
def _phrase_end() -> re.Pattern[str]:
    signs = character_class("Pd", "Pe", "Pf", "Po", "S")
    return re.compile(rf"[{signs}](?=\s)|[{_COMMAS}]+")


@cache
def _word_end() -> re.Pattern[str]:
    return re.compile(rf"\S(?=\s)|[{_WORD_ENDS}]+")
