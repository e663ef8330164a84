"""Tables of WMT21: architectures, pruning with 8 bits, logarithmic 4 bits, seconds on a GPU."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from weebill.errors import InputError
from weebill.evaluation.measurement import Variant
from weebill.experiment.precisions import INTEGER_GRIDS, grid_of
from weebill.experiment.variants import UNPRUNED
from weebill.pruning.methods import pruning_method
from weebill.report import papers
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import Column, Comparison
from weebill.report.tables.beside_papers import quantities as q
from weebill.report.tables.beside_papers import students
from weebill.report.tables.beside_papers.comparison import Line, PaperTable, Printed, Quantity

if TYPE_CHECKING:
    from weebill.evaluation.timing.gpu_speed import GpuSpeed

PRECISIONS = {  # the paper's name → ours
    "float32": "float32",
    "8bit": "int8",
    "8bit+finetuning": "int8-finetuned",
    "log-4bit": "log4-finetuned",
}
NUMBERS = {"fp32": "float32", "fp16": "float16", "8bit": "int8"}  # likewise
COLUMNS = ("bleu_wmt20", "bleu_wmt21", "comet_wmt20", "comet_wmt21")
SCORES = tuple(q.score("wmt21", column) for column in COLUMNS)


def _in_table2(row: Printed) -> students.Key:
    return (row["model"], row["pruning"].replace("none", "unpruned"), PRECISIONS[row["precision"]])


def _by_group_lasso(recipes: students.Recipes, name: str) -> bool:
    """Return True for group lasso, and for training its shapes from scratch."""
    shape = pruning_method(recipes[name]).shape_from or name
    return recipes[shape]["method"] == "group-lasso"


def _gpu_lines(results: Results, printed: list[Printed]) -> list[Line]:
    """Return a line for each unpruned variant and mini-batch size, without a shortlist, as in the paper.

    The paper's float32 and float16 are compared with a student's float32 variant, its int8 with each int8 variant.
    Raises InputError if a variant was timed twice in one setting.
    """
    ours = _figures(lookup.timed_on_gpu(results))
    columns = {numbers: f"seconds_ours_{name}" for name, numbers in NUMBERS.items()}
    [bleu] = (row for row in printed if row["mini_batch"] == "bleu")
    theirs = {
        row["mini_batch"]: {numbers: row[name] for numbers, name in columns.items()}
        | {f"bleu_{numbers}": bleu[name] for numbers, name in columns.items()}
        for row in printed
        if row is not bleu
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
                    {"variant": name, **taken},
                    {key: text for key, text in paper.items() if key.rpartition("_")[2] in shown},
                    {"variant": base, **ours.get(base, {}).get(batch, {})},
                    paper,
                    "plain" if taken else "absent",
                )
            )
    return lines


def _figures(speeds: "Sequence[GpuSpeed]") -> dict[str, dict[str, dict[str, str]]]:
    """Return figures as text for unpruned variants without a shortlist: variant → batch size → figures.

    The figures are the seconds in each kind of numbers, with keys such as "float16", and BLEU of the timed text, with
    keys such as "bleu_float16".
    """
    found: dict[str, dict[str, dict[str, str]]] = {}
    for speed in speeds:
        if Variant.parse(speed.variant).recipe == UNPRUNED and not speed.shortlist:
            seconds = found.setdefault(speed.variant, {}).setdefault(str(speed.batch_size), {})
            if speed.numbers in seconds:
                raise InputError(
                    f"GPU speed: {speed.variant} was timed twice in {speed.numbers} with batches of "
                    f"{speed.batch_size}; measure again"
                )
            seconds[speed.numbers] = lookup.seconds(speed, speed.words)
            seconds[f"bleu_{speed.numbers}"] = lookup.mean_timed_bleu(speed)
    return found


def _paper_numbers(name: str, ours: Mapping[str, object]) -> list[str]:
    """Return the paper's kinds of numbers for a variant; float32 also gets int8 if there is no int8 variant."""
    if not name:
        return list(NUMBERS.values())
    variant = Variant.parse(name)
    if grid_of(variant.precision) in INTEGER_GRIDS:
        return ["int8"]
    if variant != variant.baseline:
        return []
    others = (other for other in map(Variant.parse, ours) if other.student == variant.student)
    has_int8 = any(grid_of(other.precision) in INTEGER_GRIDS for other in others)
    return [numbers for numbers in NUMBERS.values() if numbers != "int8" or not has_int8]


def _gpu_quantities(prefix: str, title: str, comparison: Comparison) -> tuple[Quantity, ...]:
    """Declare a figure in each kind of numbers, compared with float32 in the same row.

    The paper's baseline is its float32; ours is the student's float32 variant, in the same column.
    """

    def figure(numbers: str, against: Quantity | None) -> Quantity:
        key = prefix + numbers
        return Quantity(
            key,
            f"{title}, {numbers}",
            lambda results, timed: timed.get(key, ""),
            comparison,
            against=against,
        )

    float32 = figure("float32", None)
    ours_alone = replace(float32, printed=lambda row: "")
    return (
        figure("float32", ours_alone),
        figure("float16", float32),
        figure("int8", float32),
    )


TABLES = (
    *students.student_tables(
        1,
        "architectures and quality",
        "Teacher and students before pruning and quantization: their shapes, sizes and BLEU. Sizes of the "
        "teacher are of its whole ensemble, as the paper prints them.",
        students.StudentLines("wmt21", students.in_table1, students.trained, against_teacher=True),
        (
            q.DEPTH,
            q.EMBEDDING,
            q.FEED_FORWARD,
            q.ATTENTION_WIDTH,
            q.HEADS,
            q.VOCABULARY,
            q.PARAMETERS,
            q.MEBIBYTES,
            *SCORES,
        ),
        (q.SECONDS, q.words_per_second()),
    ),
    *students.student_tables(
        2,
        "pruned and quantized students",
        "Pruned students in float32, in 8 bits, and in 8 bits after fine-tuning. Sparsity is the share of "
        "encoder attention heads and feed-forward neurons removed.",
        students.StudentLines(
            "wmt21",
            _in_table2,
            lambda v: students.is_student(v) and grid_of(v.precision) != "log4",
            ("model", "pruning", "precision"),
            recipes_too=_by_group_lasso,
        ),
        (*SCORES, *q.SPARSITY),
        (q.SECONDS,),
    ),
    *students.student_tables(
        3,
        "students in logarithmic 4 bits",
        "Students stored in logarithmic 4 bits, decoded to float32 to run.",
        students.StudentLines(
            "wmt21",
            students.in_table3(PRECISIONS),
            lambda v: (
                students.is_unpruned(v) and v.precision in ("float32", "log4", "log4-finetuned")
            ),
            ("model", "precision"),
        ),
        (*SCORES, q.MEBIBYTES),
    ),
    PaperTable(
        "wmt21_table4",
        "wmt2021_table4",
        "WMT21 table 4: mini-batch sizes on a GPU",
        "Seconds that a student takes for a text on a GPU by mini-batch size, and BLEU of these translations.  The "
        "paper's are of the year before's model, a million sentences and an NVIDIA RTX 3090 (its own branch of "
        "Marian).",
        (*Column.texts(variant="Our variant"), Column("batch", "Batch")),
        _gpu_lines,
        lambda results: (
            *_gpu_quantities("", "Seconds", "ratio"),
            *_gpu_quantities("bleu_", "BLEU", "difference"),
        ),
        lambda results: (
            "In brackets: against float32 in the same batches, of ours that of the student's float32 variant. The "
            "paper has one BLEU for all batches and does not name its test sets; ours is the mean over all. A dash: "
            "not measured, or not in the paper.",
            *lookup.timed_text(results),
        ),
        "Table 4",
        "gpu_paper_table",
        papers.PAPERS["wmt21"].name,
        folder="speed",
        needs=("gpu_speeds",),
    ),
)
