"""Cardinal numbers from 2 to 999 in words."""

from weebill.corpus.synthetic.lexicon import read_table

_WORDS = {int(row["number"]): (row["english"], row["german"]) for row in read_table("numbers")}
ENGLISH = {number: words[0] for number, words in _WORDS.items()}
# 1 is "ein", as before "hundert" and "und".
GERMAN = {number: words[1] for number, words in _WORDS.items()}


def english_number(number: int) -> str:
    """342 -> "three hundred and forty-two".  Raises ValueError outside 2..999."""
    _check_range(number)
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return _english_below_hundred(rest)
    tail = f" and {_english_below_hundred(rest)}" if rest else ""
    return f"{ENGLISH[hundreds]} hundred{tail}"


def german_number(number: int) -> str:
    """342 -> "dreihundertzweiundvierzig".  Raises ValueError outside 2..999."""
    _check_range(number)
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return _german_below_hundred(rest)
    tail = "eins" if rest == 1 else _german_below_hundred(rest) if rest else ""
    return f"{GERMAN[hundreds]}hundert{tail}"


def _check_range(number: int) -> None:
    if not 2 <= number <= 999:
        raise ValueError(f"{number} is not between 2 and 999")


def _english_below_hundred(number: int) -> str:
    if number in ENGLISH:
        return ENGLISH[number]
    return f"{ENGLISH[number // 10 * 10]}-{ENGLISH[number % 10]}"


def _german_below_hundred(number: int) -> str:
    if number in GERMAN:
        return GERMAN[number]
    return f"{GERMAN[number % 10]}und{GERMAN[number // 10 * 10]}"
