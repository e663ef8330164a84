"""Filter of pairs in which only one side has HTML tags; its settings are those of `preparation`."""

import re

import numpy as np

from weebill.corpus.cleaning.pairs import Context, Pairs, none
from weebill.corpus.cleaning.preparation import Thresholds as Thresholds

# Tags and comments of HTML and XML, but not words in double angle brackets: some people type << >> for « ».
TAG = re.compile(
    r"(?<!<)</?[a-zA-Z][\w:.-]*(?:\s+[a-zA-Z_:][\w:.-]*(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))?)*\s*/?>(?!>)"
    r"|<!--(?:(?!<!--).)*?-->"
)
_BRACKETED = re.compile(r"<([^<>]+)>")


def markup(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs in which only one side has HTML tags, such as <b> or <br/>.

    <file>, which is <файл> on the other side, is no tag, but a place for a word.
    """
    if not pairs.parallel:
        return none(pairs)
    found = [np.fromiter(map(_has_tag, side), bool, len(side)) for side in pairs.sides]
    rejected = np.logical_xor(*found)
    for row in np.flatnonzero(rejected).tolist():
        other = pairs.sides[int(found[0][row])][row]
        rejected[row] = all(word.isascii() for word in _BRACKETED.findall(other))
    return rejected


def _has_tag(text: str) -> bool:
    return "<" in text and ">" in text and TAG.search(text) is not None
