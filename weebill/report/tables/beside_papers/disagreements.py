"""Different numbers that a paper prints for one model in several tables: misprints, or another training.

They are found in the tables themselves, so notes about them are always up to date.
"""

from collections.abc import Collection, Mapping
from decimal import Decimal
from itertools import combinations

from weebill.report import papers

# The paper's column → its meaning.  Words a second are for float32 if the table names no precision.
QUANTITIES = {
    "params_m": "million parameters",
    "size_mb": "MiB",
    "bleu_wmt16": "BLEU on WMT16",
    "bleu_wmt19": "BLEU on WMT19",
    "bleu_wmt1x": "BLEU on WMT1*",
    "bleu_wmt20": "BLEU on WMT20",
    "bleu_wmt21": "BLEU on WMT21",
    "comet_wmt20": "COMET on WMT20",
    "comet_wmt21": "COMET on WMT21",
}
SPEEDS = {"wps_1core": "words a second on one core"}
HALF_PRECISION = Decimal("0.1")  # change of BLEU by decoding in float16 (WNGT20 §6)
Printed = Mapping[int, str]  # number of a table → printed number


def printed_numbers(
    paper: str, quantities: Mapping[str, str]
) -> dict[tuple[str, str, str], Printed]:
    """Return the numbers of each (model, precision, column) of a paper's tables, by the number of the table.

    float16 numbers are included under float32, because the models are the same.
    """
    found: dict[tuple[str, str, str], dict[int, str]] = {}
    for number in papers.numbers(paper):
        for row in papers.load_table(paper, number).to_dict("records"):
            if "model" not in row or row.get("pruning", "none") != "none":
                continue
            for column, text in row.items():
                key = (row["model"], row.get("precision", "float32"), column.removesuffix("_fp32"))
                if key[2] in quantities and text and row.get("variant", "fp16")[:4] == "fp16":
                    found.setdefault(key, {})[number] = text
    return found


def differ(one: str, other: str, allowed: Decimal = Decimal(0)) -> bool:
    """Return True if two printed numbers cannot be roundings of numbers that differ by at most `allowed`."""
    values = [Decimal(text) for text in (one, other)]
    coarser = max(value.as_tuple().exponent for value in values)
    return abs(values[0] - values[1]) > allowed + Decimal(5).scaleb(coarser - 1)


def disagreement_notes(paper: str, number: int, speeds: bool = False) -> list[str]:
    """Return the note on numbers of a table that differ between the paper's tables; an empty list if none differ.

    speeds: compare the table's words a second instead of its other numbers.
    """
    told = []
    quantities = SPEEDS if speeds else QUANTITIES
    for (model, precision, column), printed in printed_numbers(paper, quantities).items():
        if number not in printed or not any(
            differ(printed[a], printed[b], HALF_PRECISION if _halved(paper, {a, b}) else Decimal(0))
            for a, b in combinations(printed, 2)
        ):
            continue
        name = model if precision == "float32" else f"{model} in {precision}"
        by_text: dict[str, list[str]] = {}
        for table, text in printed.items():
            by_text.setdefault(text, []).append(str(table))
        shown = (
            f"{text} (table{'s' * (len(tables) > 1)} {' and '.join(tables)})"
            for text, tables in by_text.items()
        )
        told.append(f"{quantities[column]} of {name} {', '.join(shown)}")
    return (
        [f"The paper's tables print these numbers differently: {'; '.join(told)}."] if told else []
    )


def _halved(paper: str, tables: Collection[int]) -> bool:
    """Return True if one of the tables has float16 numbers."""
    return paper == "wngt20" and 4 in tables
