"""Tables of WNGT20: architectures, pruned encoder attention, quantization, speed on a GPU."""

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING

from weebill.evaluation.measurement import Variant
from weebill.experiment.precisions import grid_of
from weebill.experiment.variants import UNPRUNED
from weebill.pruning.methods import pruning_method
from weebill.report import papers
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import Column, fixed
from weebill.report.tables.beside_papers import quantities as q
from weebill.report.tables.beside_papers import students
from weebill.report.tables.beside_papers.comparison import Line, PaperTable, Printed, Quantity
from weebill.report.tables.beside_papers.disagreements import disagreement_notes

if TYPE_CHECKING:
    from weebill.evaluation.timing.gpu_speed import GpuSpeed

PRECISIONS = {  # the paper's name → ours
    "float32": "float32",
    "8bit": "int8-finetuned",
    "8bit-untuned": "int8",
    "log-4bit": "log4-finetuned",
}
NUMBERS = {"fp32": "float32", "fp16": "float16"}  # likewise
SCORES = (q.score("wngt20", "bleu_wmt19"), q.score("wngt20", "bleu_wmt1x"))


def _in_table2(row: Printed) -> students.Key:
    model, _, recipe = row["model"].partition(".")
    return (model, recipe.replace(".", "-") or "unpruned", "float32")


def _takes_heads_alone(recipes: students.Recipes, name: str) -> bool:
    """Return True for a method that removes only heads, such as late resetting."""
    return pruning_method(recipes[name]).parts == {"heads"}


# Row of table 1, recipe, grid of weights that are decoded first or "", kind of numbers, True with a shortlist.
Setting = tuple[str, str, str, str, bool]


def _gpu_lines(results: Results, printed: list[Printed]) -> list[Line]:
    """Return a line for every student that corresponds to a row, at its best batch size."""
    models = list(papers.load_table("wngt20", 1)["model"])
    theirs = {_printed_setting(row, models): row for row in printed}
    # The key includes the variant, because several variants may correspond to one row.
    ours: dict[tuple[Setting, str], GpuSpeed] = {}
    for speed in sorted(lookup.timed_on_gpu(results), key=lambda speed: speed.words_per_second):
        variant = Variant.parse(speed.variant)
        row = lookup.row_of(results, variant, "wngt20")
        if row is not None:
            setting = (row, variant.recipe, _decoded_from(speed), speed.numbers, speed.shortlist)
            ours[setting, speed.variant] = speed
    alone = {(setting, "") for setting in {*theirs}.difference(setting for setting, _ in ours)}
    lines = []
    for setting, name in sorted(
        {*alone, *ours}, key=lambda one: (models.index(one[0][0]), *one[0][1:], one[1])
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
    """Return the grid of weights that are decoded before products; "" if products use the stored weights."""
    grid = grid_of(Variant.parse(speed.variant).precision)
    return "" if grid == "float32" or speed.numbers == "int8" else grid


def _printed_setting(row: Printed, models: Sequence[str]) -> Setting:
    """Return a printed row's setting, e.g. of model "tiny.steady.i12" in variant "fp16+shortlist"."""
    student = max((name for name in models if row["model"].startswith(name)), key=len)
    recipe = row["model"].removeprefix(student).lstrip(".").replace(".", "-")
    numbers, _, shortlist = row["variant"].partition("+")
    return (student, recipe or UNPRUNED, "", NUMBERS[numbers], bool(shortlist))


def _timed_score(column: str) -> Quantity:
    """Declare BLEU of the translations that were timed."""

    def ours(results: Results, speed: "GpuSpeed") -> str:
        return fixed(lookup.timed_bleu(results, speed, "wngt20", column), 2)

    return replace(q.score("wngt20", column), ours=ours)


WORDS_PER_SECOND = Quantity(
    "wps",
    "Words/s",
    lambda results, speed: lookup.words_per_second(speed),
    "ratio",
    itemgetter("wps_gpu_t4"),
)

TABLES = (
    *students.student_tables(
        1,
        "architectures and quality",
        "Teacher and students before pruning and quantization: their shapes, sizes and BLEU. Sizes of the "
        "teacher are of one member of its ensemble, as the paper prints them.",
        students.StudentLines("wngt20", students.in_table1, students.trained, against_teacher=True),
        (
            q.EMBEDDING,
            q.FEED_FORWARD,
            q.DEPTH,
            q.VOCABULARY,
            q.MEMBER_PARAMETERS,
            q.MEMBER_MEBIBYTES,
            q.score("wngt20", "bleu_wmt16"),
            *SCORES,
        ),
        (q.SECONDS, q.words_per_second()),
    ),
    *students.student_tables(
        2,
        "students with pruned encoder attention",
        "Encoder heads removed by confidence with late resetting, in small steps (Steady) or large ones "
        "(Pushy): the heads left in each encoder layer, and what their removal cost.",
        students.StudentLines(
            "wngt20",
            _in_table2,
            lambda v: students.is_student(v) and v.precision == "float32",
            recipes_too=_takes_heads_alone,
        ),
        (q.ENCODER_HEADS, q.PARAMETERS, q.MEBIBYTES, *SCORES),
        (q.words_per_second("wps_1core_fp32"),),
    ),
    *students.student_tables(
        3,
        "quantized students",
        "Size, compressed size and BLEU of students in float32, 8 bits (with static activation scales) and "
        "logarithmic 4 bits. The vocabulary is not counted.",
        students.StudentLines(
            "wngt20", students.in_table3(PRECISIONS), students.is_unpruned, ("model", "precision")
        ),
        (q.MEBIBYTES, q.COMPRESSED, *SCORES),
        (q.words_per_second(), q.words_per_second("wps_multicore", "all cores")),
    ),
    PaperTable(
        "wngt20_table4",
        "wngt2020_table4",
        "WNGT20 table 4: speed on a GPU",
        "Source words that students translate per second on a GPU, and BLEU of these translations; the paper's GPU "
        "is an NVIDIA T4.",
        (
            *Column.texts(model="WNGT 2020 row", setting="Setting", ours="Our variant"),
            Column("batch_ours", "Batch, ours"),
        ),
        _gpu_lines,
        lambda results: (WORDS_PER_SECOND, *map(_timed_score, ("bleu_wmt19", "bleu_wmt1x"))),
        lambda results: (
            "In brackets: each side against its own unpruned student in float32 without a shortlist. Ours in "
            "batches of the size that was the fastest. A dash: not measured, or not in the paper.",
            "Not measured: several concurrent streams on one GPU, which gained the paper nothing significant (§6).",
            *disagreement_notes("wngt20", 4),
            *lookup.timed_text(results),
        ),
        "Table 4",
        "gpu_paper_table",
        papers.PAPERS["wngt20"].name,
        folder="speed",
        needs=("gpu_speeds",),
    ),
)
