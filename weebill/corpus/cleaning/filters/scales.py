"""Numerals of Chinese, Japanese and Korean, and words of many languages for thousands and millions after a number."""

import re
from decimal import Decimal

_DIGITS = {
    digit: value
    for value, digits in enumerate(["〇零", "一", "二两兩", *"三四五六七八九"])
    for digit in digits
}
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
_MIXED = re.compile(rf"\d+(?:[.,]\d+)*(?:\s?[{_UNITS}]+(?:\s?\d+(?:[.,]\d+)*(?![\d.,]))?)+")
_MIXED_PART = re.compile(rf"(\d+(?:[.,]\d+)*)|([{_UNITS}])")
_NUMERALS = re.compile(rf"[{''.join(_DIGITS)}{_UNITS}]+")

# Beginnings of words (in lower case) for a power of ten after a number, and words and signs that need no space.
# "Billion" is a thousand million in English and a million million in most other languages.
_POWERS = {
    3: """thousand tausend mille mil mila mii duizend tusen tuhat тысяч тыс тис хиляд хиљад hiljad tisíc tisuć tysią
        tys bin ألف آلاف الف هزار ہزار हज़ार हजार হাজার พัน nghìn ngàn ribu ezer χιλιάδ אלף אלפ k""",
    4: "หมื่น",
    5: "lakh लाख লাখ แสน لاکھ",
    6: """million millon millió milió milion milión milhã milhõ miljo miljon milj milyon mln mio mln милли мільй мили
        млн مليون ملايين میلیون ملین मिलियन মিলিয়ন ล้าน triệu juta εκατομμύρι מיליון m""",
    7: "crore करोड़ কোটি کروڑ",
    9: """milliard miliard miljard milyar miliar miljar mld mrd bn billion bilhã bilhõ миллиард мільярд милијард
        млрд مليار میلیارد ملیارد अरब बिलियन พันล้าน tỷ tỉ δισεκατομμύρι מיליארד""",
    12: "billion billón bilión trillion trilhã trilhõ трлн триллион تريليون تریلیون ล้านล้าน",
}
_SCALES: dict[str, list[int]] = {}
for _power, _words in _POWERS.items():
    for _word in _words.split():
        _SCALES.setdefault(_word, []).append(_power)
_ONLY = (
    "k",
    "m",
    "mil",
    "bin",
    "bn",
    "tys",
    "тыс",
    "тис",
    "mio",
    "mln",
    "mld",
    "mrd",
    "млн",
    "млрд",
)  # whole words
_LONGEST_FIRST = sorted(_SCALES, key=len, reverse=True)
_SCALE = re.compile(
    r"[\s-]?(" + "|".join(word + (r"\b" if word in _ONLY else "") for word in _LONGEST_FIRST) + ")",
    re.IGNORECASE,
)


def powers_of_ten(text: str, place: int) -> list[int]:
    """Return the powers of ten of the word for thousands or millions that stands at a place of a line."""
    found = _SCALE.match(text, place)
    return _SCALES[found[1].lower()] if found else []


def with_digits(text: str) -> str:
    """Replace digits with Chinese, Japanese or Korean units, such as 1万2千 or 3억 5000만, by digits alone."""
    return text if text.isascii() else _MIXED.sub(lambda found: _plain(found[0]), text)


def _plain(mixed: str) -> str:
    parts = [_decimal(number) if number else unit for number, unit in _MIXED_PART.findall(mixed)]
    return f"{_value(parts):f}"


def _decimal(number: str) -> Decimal:
    """Read digits with at most one decimal point; commas, and several points, separate groups."""
    digits = number.replace(",", "")
    return Decimal(digits if digits.count(".") < 2 else digits.replace(".", ""))


def chinese_numbers(text: str) -> tuple[set[Decimal], bool]:
    """Return the values of a line's numbers in Chinese numerals, such as 三百二十 and 一九九八.

    Also return True if some number is of several numerals; a single one may be part of a word.
    """
    found = [] if text.isascii() else _NUMERALS.findall(text)
    return {value for one in found for value in _values(one)}, any(len(one) > 1 for one in found)


def _values(numerals: str) -> list[Decimal]:
    digits = [_DIGITS.get(one) for one in numerals]
    if None not in digits:
        return [Decimal("".join(map(str, digits)))]
    if any(one in _DIGITS for one in numerals) or numerals[0] in _SMALL:
        return [
            _value(
                [
                    one if digit is None else Decimal(digit)
                    for one, digit in zip(numerals, digits, strict=True)
                ]
            )
        ]
    return []


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
