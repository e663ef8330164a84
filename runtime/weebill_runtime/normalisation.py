"""Normalisation of text: composed characters, no invisible ones, and punctuation as in Moses' scripts.

Cleaning normalises training text, and translators their input.  A vocabulary records how (`vocabulary.py`), and so
does every model folder and export.  `normalise_punctuation` returns the text of sacremoses' MosesPunctNormalizer, but
numbers keep their no-break spaces: by default, Moses makes 1 234 in French 1,234, which is another number there.
Substitutions run on many joined lines at once, so that each costs only the search for its characters; no pattern
crosses a line's end.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from weebill_runtime.characters import character_class
from weebill_runtime.languages import primary
from weebill_runtime.names import SIDES, Side

# (required text, pattern, replacement), in Moses' order.  A pattern of None stands for the required text itself.  The
# others also begin with plain text, which `re` finds much faster than a class or a repetition.
_SPACES = ("  ", r"  +", " ")


def _each(texts: Iterable[str], replacement: str) -> list[tuple]:
    return [(text, None, replacement) for text in texts]


_SPACING = [
    ("\r", None, ""),
    ("(", None, " ("),
    (")", None, ") "),
    _SPACES,
    (") ", r"\) ([.!:?;,])", r")\1"),
    ("( ", None, "("),
    (" )", None, ")"),
    (" %", r" %(?<=\d %)", "%"),
    (" :", None, ":"),
    (" ;", None, ";"),
    ("`", None, "'"),
    ("''", None, ' " '),
]
_UNICODE = [
    *_each("„“”", '"'),
    ("–", None, "-"),
    ("—", None, " - "),
    _SPACES,
    *_each("´‘‚’", "'"),  # Moses has a separate rule for ‘ between letters, with the same result
    ("''", None, '"'),
    ("…", None, "..."),
]
_NO_BREAK_SPACES = [
    *_each(("\u00a0«\u00a0", "«\u00a0", "«", "\u00a0»\u00a0", "\u00a0»", "»"), '"'),
    ("\u00a0%", None, "%"),
    ("nº\u00a0", None, "nº "),
    ("\u00a0:", None, ":"),
    ("\u00a0ºC", None, " ºC"),
    ("\u00a0cm", None, " cm"),
    *((f"\u00a0{mark}", None, mark) for mark in "?!;"),
    (",\u00a0", None, ", "),
]
_ENGLISH_QUOTES = [('"', r'"([,.]+)', r'\1"')]
_CONTINENTAL_QUOTES = [
    (',"', None, '",'),
    # Every run of dots is matched once, with any text after it: otherwise a line of dots takes quadratic time.
    (
        '."',
        r'(\.+)(?:"([^\S\n]*[^<\n]))?',
        lambda match: f'"{match[1]}{match[2]}' if match[2] else match[0],
    ),
]


# Compatibility characters that no language needs: letters, digits and kana of another width, and the forms of Arabic
# letters that old encodings have.  Others, such as ² or ，, differ in meaning or look, and stay.
COMPATIBLE = "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff61-\uff9f\ufb50-\ufdef\ufe70-\ufefc"
_COMPATIBLE_RUN = re.compile(f"[{COMPATIBLE}]+")


def compose(text: str) -> str:
    """Compose letters and marks (Unicode's form NFC), and replace the characters COMPATIBLE by their usual ones.

    Text stays as it is if only single characters have another form, such as the Greek middle dot.
    """
    if b"\xef" in text.encode("utf-8", "surrogatepass"):  # the first byte of all of COMPATIBLE
        text = _COMPATIBLE_RUN.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    composed = unicodedata.normalize("NFC", text)
    if composed != text and len(composed) == len(text):
        pairs = zip(text, composed, strict=True)
        if all(one == other or unicodedata.normalize("NFC", one) == other for one, other in pairs):
            return text
    return composed


# Scripts by blocks.  In those of the first, joiners (U+200C, U+200D, U+180E) after a letter or mark belong to the
# spelling; in those of the second, zero-width spaces (U+200B) between words do.
_JOINED = re.compile(
    "[\u0600-\u109f\u1780-\u18af\u1a20-\u1aaf\u1b00-\u1b7f\ua840-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff]"
)
_UNSPACED = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\uaadf]"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]+\U000e007f")  # of a black flag: a region's flag
# Format characters that can be seen: signs of Arabic, Syriac and Kaithi, and joiners of hieroglyphs.
_VISIBLE = re.compile(
    "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f]"
)


# Moses replaces every non-printing character by a space, which would split words at soft hyphens and zero-width
# marks (category Cf); here these are removed.  Line and paragraph separators become spaces too, because other
# programs would split the line there.
@cache
def _one_of(*categories: str) -> re.Pattern[str]:
    return re.compile(f"[{character_class(*categories)}]")


@cache
def _formats() -> re.Pattern[str]:
    return re.compile(f"[{character_class('Cf')}]+")


@cache
def _emoji() -> re.Pattern[str]:
    return re.compile(f"[{character_class('So')}\U0001f3fb-\U0001f3ff\ufe0f]")


def _spelling(found: re.Match[str]) -> str:
    """Return the part of a run of format characters that stays, which depends on the characters around it."""
    text, run = found.string, found[0]
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if before == "\U0001f3f4" and _TAGS.fullmatch(run):
        return run
    stays = ""
    for mark in run:
        if (
            (mark in "\u200c\u200d\u180e" and _JOINED.match(before))
            or (mark == "\u200d" and _emoji().match(before) and _emoji().match(after))
            or (mark == "\u200b" and (_UNSPACED.match(before) or _UNSPACED.match(after)))
            or _VISIBLE.match(mark)
        ):
            stays, before, after = stays + mark, mark, ""  # one of several equal marks is enough
    return stays


def remove_non_printing(text: str) -> str:
    """Remove zero-width characters that spell nothing, and replace other non-printing ones by a space."""
    if text.isprintable():
        return text
    return _one_of("Cc", "Co", "Cs", "Zl", "Zp").sub(" ", _formats().sub(_spelling, text))


def normalise_punctuation(lines: list[str], language: str) -> list[str]:
    """Normalise the punctuation of lines (without "\\n") of a language (ISO 639-1)."""
    steps = _steps(primary(language))
    kinds: tuple[list[int], ...] = tuple([] for _ in steps)
    for number, line in enumerate(lines):
        kinds[0 if line.isascii() else 2 if "\u00a0" in line else 1].append(number)
    result = list(lines)
    for numbers, substitutions in zip(kinds, steps, strict=True):
        text = "\n".join([lines[number] for number in numbers])
        for needed, substitute, new in substitutions:
            if needed in text:
                text = text.replace(needed, new) if substitute is None else substitute(new, text)
        for number, line in zip(numbers, text.split("\n"), strict=False):
            result[number] = line.strip()
    return result


@cache
def _steps(language: str) -> tuple[list[tuple], ...]:
    """Return the substitutions for lines in ASCII, for other lines, and for lines with no-break spaces."""
    quotes = {"en": _ENGLISH_QUOTES, **dict.fromkeys(("de", "es", "fr"), _CONTINENTAL_QUOTES)}
    last = [_SPACES, *quotes.get(language, [])]
    all_steps = (
        [*_SPACING, *last],
        [*_SPACING, *_UNICODE, *_each("«»", '"'), *last],
        [*_SPACING, *_UNICODE, *_NO_BREAK_SPACES, *last],
    )
    return tuple(
        [(needed, pattern and re.compile(pattern).sub, new) for needed, pattern, new in steps]
        for steps in all_steps
    )


Punctuation = Literal["moses", "keep"]
# Languages in which “ ” … —— are the usual marks: Japanese, Okinawan, and the languages of China that zh covers.
KEEPING = (
    "ja", "ryu", "zh", "cdo", "cjy", "cnp", "cpx", "csp", "czh", "czo", "gan", "hak", "hsn", "lzh", "mnp", "nan",
    "wuu", "yue",
)  # fmt: skip


def usual_punctuation(language: str) -> Punctuation:
    """Return the default treatment of a language's punctuation."""
    return "keep" if primary(language) in KEEPING else "moses"


def normalise(
    texts: Iterable[str], language: str, punctuation: Punctuation | None = None
) -> list[str]:
    """Compose the characters of lines, remove the invisible ones, then normalise the punctuation.

    punctuation: "moses" makes quotes, dashes and spacing ASCII, "keep" only removes superfluous spaces; None: by
    the language.
    """
    lines = [
        text if text.isascii() and text.isprintable() else compose(remove_non_printing(text))
        for text in texts
    ]
    if (punctuation or usual_punctuation(language)) == "moses":
        return normalise_punctuation(lines, language)
    return [re.sub("  +", " ", line).strip() for line in lines]


@dataclass(frozen=True)
class SideNormalisation:
    """Arguments of `normalise` for the text of a side."""

    language: str
    punctuation: Punctuation


@dataclass(frozen=True)
class Normalisation:
    """Changes of the text of both sides before it is split into pieces."""

    source: SideNormalisation
    target: SideNormalisation

    @classmethod
    def of(
        cls, languages: tuple[str, str], punctuation: Punctuation | None = None
    ) -> "Normalisation":
        """Return the normalisation of cleaned text of these languages.  punctuation: as in `normalise`."""
        return cls(
            *(SideNormalisation(one, punctuation or usual_punctuation(one)) for one in languages)
        )

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Normalisation":
        """Read what `to_dict` returned.  Raises ValueError, TypeError or KeyError for anything else."""
        sides = [SideNormalisation(**record[side]) for side in SIDES]
        for side in sides:
            if side.punctuation not in ("moses", "keep") or not isinstance(side.language, str):
                raise ValueError(f"no normalisation {side}")
        return cls(*sides)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __call__(self, texts: Iterable[str], side: Side) -> list[str]:
        """Normalise lines of a side as cleaning does."""
        return normalise(texts, **asdict(getattr(self, side)))

    @property
    def folds(self) -> bool:
        """True if neither side keeps typographic punctuation."""
        return self.source.punctuation == self.target.punctuation == "moses"
