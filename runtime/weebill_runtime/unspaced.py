"""Scripts without spaces between words (Han, kana, Thai, Lao, Khmer, Burmese, Tibetan, …), and joined sentences."""

import re
import unicodedata
from collections.abc import Iterable

# Letters and marks of scripts without spaces between words, as first and last characters (Unicode 16).  Their digits
# and punctuation marks are left out.
RANGES = (
    "\u0e01\u0e3a\u0e40\u0e4e"  # Thai
    "\u0e81\u0ebd\u0ec0\u0ece\u0edc\u0edf"  # Lao
    "\u0f00\u0f00\u0f18\u0f19\u0f35\u0f35\u0f37\u0f37\u0f39\u0f39\u0f3e\u0f84\u0f86\u0fbc"  # Tibetan
    "\u1000\u103f\u1050\u108f\u109a\u109d\ua9e0\ua9ef\ua9fa\ua9fe\uaa60\uaa7f"  # Burmese
    "\u1780\u17d3\u17d7\u17d7\u17dc\u17dd"  # Khmer
    "\u1950\u196d\u1970\u1974\u1980\u19ab\u19b0\u19c9\u1a20\u1a7c\u1aa7\u1aa7"  # Tai Le, New Tai Lue, Tai Tham
    "\u1b00\u1b4c\ua980\ua9c0\ua000\ua48c"  # Balinese, Javanese, Yi
    "\u3041\u309a\u309d\u309f\u30a1\u30fa\u30fc\u30ff\u31f0\u31ff\uff66\uff9f"  # kana
    "\U0001aff0\U0001affe\U0001b000\U0001b16f"  # historical kana
    "\u3105\u312f\u31a0\u31bf"  # Bopomofo
    "\u3005\u3007\u3021\u302d\u3038\u303b\u3400\u4dbf\u4e00\u9fff\uf900\ufaff"
    "\U00016ff0\U00016ff1\U00020000\U0003ffff"  # Han
)
INSIDE = "".join(map("-".join, zip(RANGES[::2], RANGES[1::2], strict=True)))  # of [...]
_LETTER = re.compile(f"[{INSIDE}]")


def is_unspaced(character: str) -> bool:
    """Return True for a letter, or a mark on a letter, of a script without spaces between words."""
    return _LETTER.match(character) is not None


def join_sentences(parts: Iterable[tuple[str, str]]) -> str:
    """Join sentences, each with the white space after it: Han and kana have none, other scripts at least one."""
    text, space = "", ""
    for sentence, after in parts:
        if text and sentence:
            text += space.strip(" ") if is_wide(text[-1]) else space or " "
        text, space = text + sentence, after
    return text


def is_wide(character: str) -> bool:
    """Return True for a letter or mark of Chinese and Japanese, which fills a square."""
    square = unicodedata.east_asian_width(character) in "WF"
    return square and (is_unspaced(character) or unicodedata.category(character)[0] == "P")
