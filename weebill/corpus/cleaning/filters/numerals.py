"""Chinese, Japanese and Korean numerals, separate or after digits."""

import re
from decimal import Decimal

from weebill.corpus.cleaning.filters.calendars import ERAS

_DIGITS = {
    digit: value
    for value, digits in enumerate(["〇零", "一", "二两兩", *"三四五六七八九"])
    for digit in digits
}
_SOUNDS = {digit: value for value, digit in enumerate("일이삼사오육칠팔구", 1)} | {"륙": 6}
_SMALL = dict(zip("十百千십백천", (10, 100, 1000) * 2, strict=True))
_LARGE = {
    "万": 10**4,
    "萬": 10**4,
    "만": 10**4,
    "亿": 10**8,
    "億": 10**8,
    "억": 10**8,
    "兆": 10**12,
    "조": 10**12,
}
_UNITS = "".join([*_SMALL, *_LARGE])
_CHINESE_UNITS, _KOREAN_UNITS = (
    "".join(unit for unit in _UNITS if (unit >= "가") is korean) for korean in (False, True)
)
_CHINESE_OR_KOREAN = re.compile(r"[\u3400-\u9fff\uac00-\ud7a3]")
_MIXED = re.compile(rf"\d+(?:[.,]\d+)*(?:\s?[{_UNITS}]+(?:\s?\d+(?:[.,]\d+)*(?![\d.,]))?)+")
_MIXED_PART = re.compile(rf"(\d+(?:[.,]\d+)*)|([{_UNITS}])")
_NUMERALS = re.compile(rf"[{''.join(_DIGITS)}{_CHINESE_UNITS}]+")
_DECIMALS = re.compile(  # 十二点五 is 12.5, and 三点五亿 350 million
    rf"([{''.join(_DIGITS)}{_CHINESE_UNITS}]+)[点點・]([{''.join(_DIGITS)}]+)([{''.join(_LARGE)}]?)"
)
# Korean syllables are numerals only together with a unit: 이사 is also a word.
_KOREAN = re.compile(
    rf"(?=[{''.join(_SOUNDS)}]*[{_KOREAN_UNITS}])[{''.join(_SOUNDS)}{_KOREAN_UNITS}]{{2,}}"
)
# "Some" in a number, as in 10多万 and 10여만: a little more than 100,000.
_SOME = re.compile(
    rf"(?<=[\d{''.join(_DIGITS)}{_UNITS}])\s?[多余餘数數几幾来來여]\s?(?=[{_UNITS}])"
)
_TENTHS = re.compile(r"(\d)\s?[成割할]\s?(\d)(?!\d)[分푼]?")  # 7成5 is 75%
# 3～5万 is 30,000 to 50,000.
_RANGE = re.compile(
    rf"(?<![\d.,])(\d+(?:\.\d+)?)(\s?[-‐-―~～〜至到]\s?)(?=(\d+(?:\.\d+)?)\s?([{_UNITS}]+))"
)
_FIRST_YEAR = re.compile(rf"(?<={'|'.join(ERAS)})元(?=年)")


def with_digits(text: str) -> str:
    """Replace numbers with Chinese, Japanese or Korean units, such as 1万2千 or 3억 5000만, by plain digits."""
    if text.isascii() or not _CHINESE_OR_KOREAN.search(text):
        return text
    text = _TENTHS.sub(r"\1\2", _SOME.sub("", _FIRST_YEAR.sub("1", text)))
    return _MIXED.sub(lambda found: _plain(found[0]), _RANGE.sub(_with_unit, text))


def _with_unit(found: re.Match[str]) -> str:
    first, sign, last, units = found.groups()
    return f"{first}{units}{sign}" if Decimal(first) < Decimal(last) else found[0]


def _plain(mixed: str) -> str:
    parts = [_decimal(number) if number else unit for number, unit in _MIXED_PART.findall(mixed)]
    return f"{_value(parts):f}"


def _decimal(number: str) -> Decimal:
    """Read digits with at most one decimal point; commas, and several points, separate groups."""
    digits = number.replace(",", "")
    return Decimal(digits if digits.count(".") < 2 else digits.replace(".", ""))


def numbers_in_numerals(text: str) -> tuple[set[Decimal], bool]:
    """Return the values of a line's numbers in Chinese or Korean numerals, such as 三百二十, 一九九八 and 오천만.

    Also return True if some number has several Chinese numerals; a single one, or Korean ones, may belong to a word.
    """
    if text.isascii() or not _CHINESE_OR_KOREAN.search(text):
        return set(), False
    text = _SOME.sub("", _FIRST_YEAR.sub("一", text))
    found = _NUMERALS.findall(text)
    values = {value for one in (*found, *_KOREAN.findall(text)) for value in _values(one)}
    for whole, digits, unit in _DECIMALS.findall(text):
        fraction = Decimal("." + "".join(str(_DIGITS[digit]) for digit in digits))
        values |= {(value + fraction) * _LARGE.get(unit, 1) for value in _values(whole)}
    return values, any(len(one) > 1 for one in found)


def _values(numerals: str) -> list[Decimal]:
    parts = [one if one in _UNITS else Decimal((_DIGITS | _SOUNDS)[one]) for one in numerals]
    if not any(one in _UNITS for one in numerals):
        return [Decimal("".join(map(str, parts)))]
    counted = numerals[0] in _SMALL or any(one not in _UNITS for one in numerals)
    return [_value(parts)] if counted else []


def _value(parts: list) -> Decimal:
    """Return the value of numbers and units, such as [3, "百", 2, "十"]."""
    total = section = Decimal(0)
    number: Decimal | None = None
    for part in parts:
        if isinstance(part, Decimal):
            number = part if number is None else number * 10 + part
        elif part in _SMALL:
            section += (1 if number is None else number) * _SMALL[part]
            number = None
        else:
            section += number or 0
            total += (section or 1) * _LARGE[part]
            section, number = Decimal(0), None
    return total + section + (number or 0)
