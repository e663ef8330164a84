"""Filter of pairs whose sides contain different numbers; notation does not matter.

Equal numbers are 1,234.5 and 1.234,5; ١٬٢٣٤ and 1 234; 10,000 and 1万; 2 million and 200万; 1998 and 一九九八;
3:30 p.m., 15 h 30 and 1530 GMT; the 1960s and the 60s; 1990-95 and 1990-1995; 2019 and 平成31年; in Thai also 1998
and 2541.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from unicodedata import decimal, numeric

import numpy as np

from weebill.corpus.cleaning.filters.calendars import (
    HALF_DAY,
    Difference,
    clock_of,
    differences,
    eras,
    has_clock,
    is_decade,
    short_years,
)
from weebill.corpus.cleaning.filters.numerals import numbers_in_numerals, with_digits
from weebill.corpus.cleaning.filters.scales import powers_of_ten
from weebill.corpus.cleaning.pairs import Context, Pairs, any_side, none
from weebill.settings import Amount, Share


@dataclass(frozen=True)
class Thresholds:
    """Numbers that may differ between the sides."""

    largest_number_in_words: Amount = 100
    """Whole numbers up to this one, decades, and larger numbers with one digit before zeros may be missing on one
    side if all others agree, because people write them in words. 0 compares all numbers."""
    max_unmatched_numbers: Share = 0.0
    """Largest share of all numbers that may have no equal on the other side."""


# Digits and the separators between them: English 1,234.5 is 1.234,5 in German.
_NUMBER = re.compile(r"\d+(?:[.,'\u00a0\u2007-\u2009\u202f\u066b\u066c]\d+)*")
_SEPARATORS = re.compile(r"\D")


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a line, sorted, as ASCII digits without separators."""
    found = (_SEPARATORS.sub("", number) for number in _NUMBER.findall(text))
    return sorted(n if n.isascii() else "".join(str(decimal(digit)) for digit in n) for n in found)


def numbers(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs whose sides contain different numbers; their order does not matter."""
    rejected = none(pairs)
    if pairs.parallel:
        source, target = pairs.sides
        for row in np.flatnonzero(any_side(pairs, lambda side: side.digits > 0)).tolist():
            sides = source[row], target[row]
            one, other = (sorted(_NUMBER.findall(side)) for side in sides)
            rejected[row] = one != other and numbers_differ(*sides, context.rules)
    return rejected


# A number as people write it: groups of three digits (of two and three in India), or digits with a decimal fraction.
_WRITTEN = re.compile(
    r"(?<!\d)\d{1,3}(?:([ \u00a0\u2000-\u200a\u202f\u205f\u3000'’])\d{3})(?:\1\d{3})*(?:[.,\u066b]\d+)?(?!\d)"
    r"|\d+(?:[.,'’\u066b\u066c]\d+)*[¼½¾⅐-⅞]?"
)
_GROUPS = re.compile(r"\d{1,3}(?:(?:\D\d{2})*\D\d{3})+")
# Dates such as 6.5.2010, 6.5.10 and 2010.5.6.  The date 6.5. also counts as the number 6.5, which may end a sentence.
_DATE = re.compile(r"\d\d?\D[01]?\d\D(?:\d\d)?\d\d|\d{4}\D[01]?\d\D\d\d?")
_DAY = re.compile(r"[0-3]?\d\.[01]?\d")
_SHARED_SCALE = re.compile(r"[^\d.,;()\n]{1,7}")  # 3 to 5 million


@dataclass(frozen=True)
class _Number:
    """Number in a line: its possible values, the parts between its separators, and if it is a date or a decade."""

    values: frozenset[Decimal]
    parts: tuple[Decimal, ...]
    date: bool = False
    decade: int | None = None  # its first year


def numbers_differ(source: str, target: str, rules: Thresholds) -> bool:
    """Return True if the numbers of two lines differ by more than the rules allow."""
    sides = [_read(with_digits(text)) for text in (source, target)]
    total = sum(map(len, sides))
    left = _unmatched(*sides)
    if all(left):
        left = _matched_by_parts(*sides, left, has_clock(f"{source}\n{target}"))
    for difference in differences(f"{source}\n{target}") if all(left) else ():
        left = _unmatched(*left, _apart(difference))
    readable = False
    rest = []
    for numbers, text in zip(left, (target, source), strict=True):
        values, several = numbers_in_numerals(text) if numbers else (set(), False)
        values |= {value + era for value in values for era in eras(text)}
        rest.append([number for number in numbers if number.values.isdisjoint(values)])
        readable |= several
    one, other = rest
    if not ((one and other) or readable):
        one, other = (
            [n for n in side if not _in_words(n, rules.largest_number_in_words)]
            for side in (one, other)
        )
    unmatched = len(one) + len(other)
    return unmatched > rules.max_unmatched_numbers * max(total, unmatched)


def _read(text: str) -> list[_Number]:
    """Return the numbers of a line."""
    numbers: list[_Number] = []
    following, powers = len(text), set()
    for found in reversed([*_WRITTEN.finditer(text)]):
        start, end = found.span()
        own = powers_of_ten(text, start, end)
        if own or (powers and not _SHARED_SCALE.fullmatch(text, end, following)):
            powers = own
        number = _number(found[0], powers)
        following = start
        if is_decade(text, start, end):  # 1960s: the 60s; 1800s: the 19th century
            year = int(found[0])
            other = year % 100 or year // 100 + 1
            number = replace(number, values=number.values | {Decimal(other)}, decade=year)
        elif time := clock_of(text, start, end):
            values = number.values | {Decimal(f"{time[0]}.{time[1]:02}")}
            number = replace(number, values=values, parts=tuple(map(Decimal, time)))
        elif years := short_years(text, start, end):
            number = replace(number, values=number.values | {*map(Decimal, years)})
        elif text.startswith(".", end) and _DAY.fullmatch(found[0]) and text[end + 1 :].strip():
            number = replace(number, date=True)
        numbers.append(number)
    return numbers[::-1]


def _number(written: str, powers: Iterable[int]) -> _Number:
    half = Decimal(0)
    if not written[-1].isdecimal():  # 3½
        half, written = round(Decimal(numeric(written[-1])), 3), written[:-1]
    groups = _SEPARATORS.split(written)
    parts = tuple(Decimal(group) for group in groups)
    if len(groups) == 1 or (_GROUPS.fullmatch(written) and not written.startswith("0")):
        value = Decimal("".join(groups))
    else:  # the last separator begins the fraction if the others separate groups of three
        whole, fraction = "".join(groups[:-1]), groups[-1]
        if len(groups) > 2 and not _GROUPS.fullmatch(written[: -len(fraction) - 1]):
            return _Number(frozenset(), parts, _DATE.fullmatch(written) is not None)
        value = Decimal(f"{whole}.{fraction}")
    value += half
    return _Number(frozenset([value, *(value.scaleb(power) for power in powers)]), parts)


def _same(one: _Number, other: _Number) -> bool:
    if one.decade and other.decade:  # both the 1860s and the 1960s are the 60s
        return one.decade == other.decade
    return not one.values.isdisjoint(other.values) or (not one.values and one.parts == other.parts)


def _apart(difference: Difference) -> Callable[[_Number, _Number], bool]:
    """Return a comparison that finds two numbers equal if they differ by one of the given distances."""
    least, most = difference.lower

    def same(one: _Number, other: _Number) -> bool:
        if not (one.values and other.values):
            return False
        low, high = sorted(min(number.values) for number in (one, other))
        return least <= low <= most and high - low in difference.distances

    return same


def _matched_by_parts(
    one: list[_Number], other: list[_Number], left: tuple[list[_Number], list[_Number]], clock: bool
) -> tuple[list[_Number], list[_Number]]:
    """Match the numbers of both sides again, because the sides may separate parts in different ways.

    left: the numbers that have no equal yet.  3.16 equals 3:16 and 3 § 16: several numbers in a row equal one number
    if they are its parts.  3 lakh 50 thousand equals its sum, 350,000.  The parts of a date may have any order,
    and some of them may be in words.
    """
    left = _unmatched(_joined(one, left[1], clock), _joined(other, left[0], clock))
    if all(left):
        left = _unmatched(*([part for n in side for part in _parts_of_date(n)] for side in left))
    return left


def _joined(numbers: list[_Number], wholes: list[_Number], clock: bool) -> list[_Number]:
    """Replace consecutive numbers by the one of `wholes` that consists of them in this order, or is their sum.

    clock: True if the hour, which is the first part, may be counted from noon.
    """
    numbers = list(numbers)
    summands = any(len(number.values) > 1 for number in numbers)
    for whole in wholes:
        first, rest = whole.parts[0], whole.parts[1:]
        firsts = {first, first - HALF_DAY, first + HALF_DAY} if clock else {first}
        for start in range(len(numbers)):
            parts, end = numbers[start].parts, start + 1
            while len(parts) <= len(rest) and end < len(numbers):
                parts, end = parts + numbers[end].parts, end + 1
            if end == start + 1 or parts[0] not in firsts or parts[1:] != rest:
                ends = (start + 2, start + 3) if summands else ()
                end = next((e for e in ends if _sum(numbers[start:e]) & whole.values), 0)
            if end:
                numbers[start:end] = [whole]
                break
    return numbers


def _sum(numbers: list[_Number]) -> set[Decimal]:
    """Return the sum of numbers whose powers of ten decrease; the set is empty for other numbers."""
    if len(numbers) < 2 or not all(number.values for number in numbers):
        return set()
    largest = [max(number.values) for number in numbers]
    falls = all(one > other for one, other in pairwise(largest))
    scaled = all(len(number.values) > 1 for number in numbers[:-1])
    return {sum(largest)} if falls and scaled else set()


def _parts_of_date(number: _Number) -> list[_Number]:
    if not number.date:
        return [number]
    *others, last = number.parts
    short = {last + 1900, last + 2000} if len(others) == 2 and last < 100 else set()
    values = [*({part} for part in others), {last} | short]
    return [_Number(frozenset(v), (part,)) for v, part in zip(values, number.parts, strict=True)]


def _unmatched(
    one: list[_Number], other: list[_Number], same=_same
) -> tuple[list[_Number], list[_Number]]:
    """Return the numbers of both sides without those that have an equal on the other side."""
    alone, other = [], list(other)
    for number in one:
        match = next((place for place, found in enumerate(other) if same(number, found)), None)
        if match is None:
            alone.append(number)
        else:
            del other[match]
    return alone, other


def _in_words(number: _Number, largest: int) -> bool:
    """Return True for a number that is often written in words."""
    if not largest or not number.values:
        return False
    value = min(number.values)
    whole = value == value.to_integral_value()
    return whole and (value <= largest or len(value.normalize().as_tuple().digits) == 1)
