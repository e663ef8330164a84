"""Times of day and years, which languages count from different starts; decades; spans of years."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import decimal

# Names of Chinese, Japanese and Korean eras, and the year before each era's first year.
ERAS = {
    "令和": 2018,
    "平成": 1988,
    "昭和": 1925,
    "大正": 1911,
    "明治": 1867,
    "民國": 1911,
    "民国": 1911,
    "주체": 1911,
}
_ERA = re.compile("|".join(ERAS))
_ERA_YEARS = (1, 200)


class Difference(NamedTuple):
    """Possible distances between two numbers with the same meaning, and the range of the lower number."""

    distances: range
    lower: tuple[int, int]


_CLOCK = re.compile(
    r"\d\s?[:：]\s?\d\d|\bklo?\b\.?\s\d\d?\.\d\d\b"
    r"|\d\s?(?:h\b|uhr|o.?clock|[ap]\.?\s?m\b|heure|час|ч\b|น\.|時|时|点|點|시|ساعة)",
    re.I,
)
HALF_DAY = 12
_FOUR_DIGITS = re.compile(
    r"(?:[01]\d|2[0-4])[0-5]\d(?=\s?(?:GMT|UTC|Z\b|h\b|hrs?\b|hours\b|Uhr\b))"
)
# Swahili, Amharic, Tigrinya, Oromo and Somali count hours from sunrise and sunset: 2 is 8 o'clock.
_SUNRISE = re.compile(
    r"\bsaa\s\d.{0,20}(?:usiku|asubuhi|mchana|jioni|alfajiri|alasiri)|ሰዓት|\bsa['’]aati|\bsaacad",
    re.I,
)
_BUDDHA = re.compile(  # also matches a month before a year
    r"[พພព]\.\s?[ศສស]|ปี|ປີ|ឆ្នាំ|(?:คม|ยน|พันธ์|[ก-ส]\.\s?[คพย]\.)\s?\d{4}"
)
# Words and signs of calendars other than the Gregorian one.
_CALENDARS = (
    (_BUDDHA, Difference(range(543, 545), (1, 9500))),
    (re.compile("[۰-۹]|سال"), Difference(range(621, 623), (1, 1500))),  # Persian
    (re.compile("هـ|ه‍|هجر|ہجر|हिजरी|হিজরি"), Difference(range(576, 585), (1250, 1500))),  # Hijri
    (re.compile(r"ዓ[.\s፣]*ም|[ዓአ]መት"), Difference(range(7, 9), (1850, 2100))),  # Ethiopian
    (re.compile(r"वि\.?\s?सं|विक्रम|साल"), Difference(range(56, 58), (1850, 2100))),  # Nepali
    (re.compile("शक"), Difference(range(78, 80), (1750, 2050))),  # Indian
    (re.compile("বঙ্গাব্দ|সাল|সন"), Difference(range(593, 595), (1, 1500))),  # Bengali
)


def has_clock(text: str) -> bool:
    """Return True if a line contains a time of day."""
    return _CLOCK.search(text) is not None


def clock_of(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return hour and minute if the number text[start:end] is a time in four digits, as in 1430 GMT; else None."""
    if end - start != 4 or not text[start:end].isascii() or not _FOUR_DIGITS.match(text, start):
        return None
    return divmod(int(text[start:end]), 100)


def eras(text: str) -> list[int]:
    """Return, for each era that a line names, the year before its first year."""
    return [] if text.isascii() else [ERAS[name] for name in set(_ERA.findall(text))]


def differences(text: str) -> Iterator[Difference]:
    """Yield how two numbers for the same time may differ in a pair of lines; `text` contains both lines."""
    if has_clock(text):
        yield Difference(range(HALF_DAY, HALF_DAY + 1), (0, HALF_DAY))
    if _SUNRISE.search(text):
        yield Difference(range(HALF_DAY // 2, 2 * HALF_DAY, HALF_DAY), (0, HALF_DAY))
    if not text.isascii():
        yield from (difference for mark, difference in _CALENDARS if mark.search(text))
        yield from (Difference(range(era, era + 1), _ERA_YEARS) for era in eras(text))


_DECADE_AFTER = re.compile(
    r"""['’]?s\b|['’-]?(?:er|l[aeiıuü])|-?(?:luvu|luku|tal|a[sn]\b|es\b|[ai]?i[hm]\b|aj\b|aisi|ųjų|ieji|იან|ական|
    х\b|ых\b|их\b|тих\b|те\b|ті\b|е\b|я\b)|n?da[dt]e?|\s?(?:年代|년대|-?\s?жылдар)
    |[\s-]?\S{0,4}\s?(?:दशक|দশক|ਦਹਾਕ|દાયક|దశక|ದಶಕ|دہائی|hamarkada)|-?(?:களி|కల|లలో|ల్లో|കളി|കളു)""",
    re.IGNORECASE | re.VERBOSE,
)
_DECADE_BEFORE = re.compile(
    r"""(?:\b(?:ann[ée]es|a[ñn]os|anys|anni|anii|jaren|lat|lata|latach|l[ée]ta?|let|rok[yů]|d[ée]cad\w*|decen\w*|dekad\w*|
    годы|годах|годов|роки|роках|години|miaka|thập\s(?:niên|kỷ)|những\snăm|dasawarsa)|δεκαετ\w*|دهه|دهۀ|دههٔ|عقد|שנות|ทศวรรษ)
    (?:\W{1,2}[^\W\d]{1,4}){0,2}?\W{0,2}\Z""",
    re.IGNORECASE | re.VERBOSE,
)
_BEFORE = 30  # characters before a number in which these words are searched
_SPAN = re.compile(r"(?<!\d)(\d{4})\s?[-‐-―~～〜/]\s?\Z")
_SHORT_YEAR = re.compile(r"(?<!\d)\d\d?([/-])\d\d?\1\Z|(?<!\w)['’]\Z")


def is_decade(text: str, start: int, end: int) -> bool:
    """Return True if the number text[start:end] means a decade, as in "the 1980s", and not its first year."""
    if end - start != 4 or not text[start:end].isdecimal() or decimal(text[end - 1]):
        return False
    return bool(
        _DECADE_AFTER.match(text, end)
        or _DECADE_BEFORE.search(text[max(0, start - _BEFORE) : start])
    )


def short_years(text: str, start: int, end: int) -> tuple[int, ...]:
    """Return the years that the two digits text[start:end] may mean, as in 1990-95, 12/05/10 or '10."""
    if end - start != 2 or not text[start:end].isdecimal():
        return ()
    before, number = text[max(0, start - 8) : start], int(text[start:end])
    if first := _SPAN.search(before):
        year = int(first[1]) // 100 * 100 + number
        return (year if year > int(first[1]) else year + 100,)
    return (1900 + number, 2000 + number) if _SHORT_YEAR.search(before) else ()
