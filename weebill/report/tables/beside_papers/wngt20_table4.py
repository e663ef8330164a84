"""Table 4 of WNGT20: words per second of students on a GPU."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weebill.evaluation.measurement import Variant
from weebill.experiment.precisions import grid_of
from weebill.experiment.variants import UNPRUNED
from weebill.report import papers
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import Column, fixed
from weebill.report.tables.beside_papers.comparison import (
    Line,
    PaperTable,
    Printed,
    Quantity,
    printed,
)

if TYPE_CHECKING:
    from weebill.evaluation.timing.gpu_speed import GpuSpeed

NUMBERS = {"fp32": "float32", "fp16": "float16"}  # the paper's name → ours
# Row of table 1, recipe, grid of weights that are decoded first or "", numbers, True with a shortlist.
Setting = tuple[str, str, str, str, bool]


def _lines(results: Results, printed: list[Printed]) -> list[Line]:
    """Return a line for every student that corresponds to a row, each at its best batch size."""
    students = list(papers.load_table("wngt20", 1)["model"])
    theirs = {_printed_setting(row, students): row for row in printed}
    # The key includes the variant, because several variants may correspond to one row.
    ours: dict[tuple[Setting, str], GpuSpeed] = {}
    for speed in sorted(results.gpu_speeds, key=lambda speed: speed.words_per_second):
        variant = Variant.parse(speed.variant)
        row = lookup.row_of(results, variant, "wngt20")
        if row is not None:
            setting = (row, variant.recipe, _decoded_from(speed), speed.numbers, speed.shortlist)
            ours[setting, speed.variant] = speed
    alone = {(setting, "") for setting in {*theirs}.difference(setting for setting, _ in ours)}
    lines = []
    for setting, name in sorted(
        {*alone, *ours}, key=lambda one: (students.index(one[0][0]), *one[0][1:], one[1])
    ):
        row, recipe, grid, numbers, shortlist = setting
        plain, speed = (row, UNPRUNED, "", "float32", False), ours.get((setting, name))
        baseline = str(Variant.parse(name).baseline) if name else ""
        labels = (
            row if recipe == UNPRUNED else f"{row}.{recipe.replace('-', '.')}",
            numbers + (f", {grid} weights" if grid else "") + (", shortlist" if shortlist else ""),
            name,
            str(speed.batch_size) if speed else "",
        )
        kind = "baseline" if setting == plain else "plain" if speed else "absent"
        bases = ours.get((plain, baseline)), theirs.get(plain)
        lines.append(Line(labels, speed, theirs.get(setting), *bases, kind))
    return lines


def _decoded_from(speed: "GpuSpeed") -> str:
    """Return the grid of weights that are decoded before they are multiplied; "" if stored weights are multiplied."""
    grid = grid_of(Variant.parse(speed.variant).precision)
    return "" if grid == "float32" or speed.numbers == "int8" else grid


def _printed_setting(row: Printed, students: Sequence[str]) -> Setting:
    """Return a printed row's setting, e.g. that of model "tiny.steady.i12" in variant "fp16+shortlist"."""
    student = max((name for name in students if row["model"].startswith(name)), key=len)
    recipe = row["model"].removeprefix(student).lstrip(".").replace(".", "-")
    numbers, _, shortlist = row["variant"].partition("+")
    return (student, recipe or UNPRUNED, "", NUMBERS[numbers], bool(shortlist))


WORDS_PER_SECOND = Quantity(
    "wps",
    "Words/s",
    lambda results, speed: fixed(speed.words_per_second, 0),
    printed("wps_gpu_t4"),
    "ratio",
)

TABLES = (
    PaperTable(
        "wngt20_table4",
        "wngt2020_table4",
        "WNGT20 table 4: speed on a GPU",
        "Source words that students translate per second on a GPU; the paper's is an NVIDIA T4.",
        (
            Column("model", "WNGT 2020 row", numeric=False),
            Column("setting", "Setting", numeric=False),
            Column("ours", "Our variant", numeric=False),
            Column("batch_ours", "Batch, ours"),
        ),
        _lines,
        lambda results: (WORDS_PER_SECOND,),
        lambda results: (
            "In brackets: each side against its own unpruned student in float32 without a shortlist. Ours in "
            "batches of the size that was the fastest.",
        ),
        "Table 4",
        "gpu_paper_table",
        papers.PAPERS["wngt20"][1],
        folder="speed",
        needs=("gpu_speeds",),
    ),
)
