"""Table 4 of WMT21: seconds of students on a GPU by mini-batch size."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from weebill.errors import InputError
from weebill.evaluation.measurement import Variant
from weebill.experiment.precisions import INTEGER_GRIDS, grid_of
from weebill.experiment.variants import UNPRUNED
from weebill.report import papers
from weebill.report.results import Results
from weebill.report.table import Column, three_digits
from weebill.report.tables.beside_papers.comparison import (
    Line,
    PaperTable,
    Printed,
    Quantity,
    nothing,
)

if TYPE_CHECKING:
    from weebill.evaluation.timing.gpu_speed import GpuSpeed

NUMBERS = {"fp32": "float32", "fp16": "float16", "8bit": "int8"}  # the paper's name → ours


class Timed(NamedTuple):
    """Seconds of a variant in batches of one size, as text, by kind of numbers."""

    variant: str
    seconds: Mapping[str, str]


def _lines(results: Results, printed: list[Printed]) -> list[Line]:
    """Return a line for each unpruned variant and mini-batch size, without a shortlist like the paper.

    The paper's float32 and float16 are compared with a student's float32 variant, its int8 with each int8 variant.
    Raises InputError if a variant was timed twice in one setting.
    """
    ours = _seconds(results.gpu_speeds)
    theirs = {
        row["mini_batch"]: {
            numbers: row[f"seconds_ours_{name}"] for name, numbers in NUMBERS.items()
        }
        for row in printed
        if row["mini_batch"].isdecimal()  # the last row is BLEU
    }
    lines = []
    for name, timed in ours.items() or [("", {})]:
        shown = _paper_numbers(name, ours)
        batches = {*timed, *theirs} if shown else {*timed}
        base = str(Variant.parse(name).baseline) if name else ""
        for batch in sorted(batches, key=int):
            paper, taken = theirs.get(batch, {}), timed.get(batch, {})
            lines.append(
                Line(
                    (name, batch),
                    Timed(name, taken),
                    {numbers: text for numbers, text in paper.items() if numbers in shown},
                    Timed(base, ours.get(base, {}).get(batch, {})),
                    paper,
                    "plain" if taken else "absent",
                )
            )
    return lines


def _seconds(speeds: "Sequence[GpuSpeed]") -> dict[str, dict[str, dict[str, str]]]:
    """Return seconds as text for unpruned variants without a shortlist: variant → batch size → kind of numbers."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for speed in speeds:
        if Variant.parse(speed.variant).recipe == UNPRUNED and not speed.shortlist:
            seconds = found.setdefault(speed.variant, {}).setdefault(str(speed.batch_size), {})
            if speed.numbers in seconds:
                raise InputError(
                    f"GPU speed: {speed.variant} was timed twice in {speed.numbers} with batches of "
                    f"{speed.batch_size}; measure again"
                )
            seconds[speed.numbers] = three_digits(speed.words / speed.words_per_second)
    return found


def _paper_numbers(name: str, ours: Mapping[str, object]) -> list[str]:
    """Return the kinds of the paper's numbers to compare with a variant; all kinds if `name` is empty.

    The paper's int8 is compared with the float32 variant of a student that has no int8 variant.
    """
    if not name:
        return list(NUMBERS.values())
    variant = Variant.parse(name)
    if grid_of(variant.precision) in INTEGER_GRIDS:
        return ["int8"]
    if variant != variant.baseline:
        return []
    of_int8 = [
        other
        for other in map(Variant.parse, ours)
        if other.student == variant.student and grid_of(other.precision) in INTEGER_GRIDS
    ]
    return [numbers for numbers in NUMBERS.values() if numbers != "int8" or not of_int8]


def _quantity(numbers: str, against: Quantity | None = None) -> Quantity:
    return Quantity(
        numbers,
        f"Seconds, {numbers}",
        lambda results, timed: timed.seconds.get(numbers, ""),
        lambda row: row.get(numbers, ""),
        "ratio",
        against,
    )


FLOAT32 = _quantity("float32")
# The paper's baseline is float32 in the same row; ours is the student's float32 variant.
OURS_IN_FLOAT32 = Quantity("float32", FLOAT32.title, FLOAT32.ours, nothing)

TABLES = (
    PaperTable(
        "wmt21_table4",
        "wmt2021_table4",
        "WMT21 table 4: mini-batch sizes on a GPU",
        "Seconds that a student takes for a text on a GPU by mini-batch size.  The paper's are of the year before's "
        "model, a million sentences and an NVIDIA RTX 3090 (its own branch of Marian).",
        (Column("variant", "Our variant", numeric=False), Column("batch", "Batch")),
        _lines,
        lambda results: (
            _quantity("float32", against=OURS_IN_FLOAT32),
            _quantity("float16", against=FLOAT32),
            _quantity("int8", against=FLOAT32),
        ),
        lambda results: (
            "In brackets: against float32 in the same batches, of ours that of the student's float32 variant.",
        ),
        "Table 4",
        "gpu_paper_table",
        papers.PAPERS["wmt21"][1],
        folder="speed",
        needs=("gpu_speeds",),
    ),
)
