"""Tables that compare our students with WNGT20's and WMT21's, row by row.

A row of the paper is a student, pruned by a recipe, in a precision.  It is compared with our variant of the same
recipe and precision of the student that `report.rows` assigns to the row.  Languages, data and machines differ, so
only the delta of each number to its own baseline can be compared; the tables show it with every number.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weebill.evaluation.measurement import Variant
from weebill.experiment.zoo import MODELS
from weebill.report import papers
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import Column
from weebill.report.tables.beside_papers.comparison import Line, PaperTable, Printed, Quantity
from weebill.report.tables.beside_papers.disagreements import disagreement_notes
from weebill.yaml_files import read_yaml

Key = tuple[str, str, str]  # row of table 1, recipe, precision
Pair = tuple[Printed | None, Variant | None]  # row of the paper and our variant
Recipes = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class StudentLines:
    """Rows of a table of students: the paper's rows in order, each with our corresponding variant."""

    paper: str
    key: Callable[[Printed], Key]
    ours_too: Callable[[Variant], bool]  # True for our variants to show without a row in the paper
    label: tuple[str, ...] = ("model",)  # the paper's columns that name a row
    against_teacher: bool = False  # baseline: the teacher, not the unpruned float32 student
    recipes_too: Callable[[Recipes, str], bool] = lambda recipes, name: True  # limits `ours_too`

    def __call__(self, results: Results, printed: list[Printed]) -> list[Line]:
        """Return the lines; variants without a row in the paper follow the last row of the same model."""
        rows = {self.key(row): row for row in printed}
        places = {variant: self._place(variant, results) for variant in lookup.variants(results)}
        alone = {
            variant: place[0]
            for variant, place in places.items()
            if place not in rows and self._belongs(variant, results)
        }
        models = [model for model, *_ in rows]
        pairs: list[Pair] = []
        for index, (key, row) in enumerate(rows.items()):
            pairs += [(row, v) for v, place in places.items() if place == key] or [(row, None)]
            if key[0] not in models[index + 1 :]:
                pairs += [(None, variant) for variant, model in alone.items() if model == key[0]]
        pairs += [(None, variant) for variant, model in alone.items() if model not in models]
        return [self._line(results, rows, pair) for pair in pairs]

    def _belongs(self, variant: Variant, results: Results) -> bool:
        recipes = results.config["pruning"]
        pruned = variant.recipe in recipes
        return self.ours_too(variant) and (not pruned or self.recipes_too(recipes, variant.recipe))

    def _place(self, variant: Variant, results: Results) -> Key:
        row = lookup.row_of(results, variant, self.paper) or ""
        if variant == lookup.teacher(results):
            return (row, lookup.TEACHER, variant.precision)
        return (row, variant.recipe, variant.precision)

    def _line(self, results: Results, rows: Mapping[Key, Printed], pair: Pair) -> Line:
        row, variant = pair
        if self.against_teacher:
            ours_base = lookup.teacher(results)
            teachers = (r for r in rows.values() if r["model"].startswith(lookup.TEACHER))
            paper_base = next(teachers, None)
        else:
            ours_base = variant.baseline if variant else None
            paper_base = rows.get((self.key(row)[0], "unpruned", "float32")) if row else None
        baseline = variant == ours_base if variant else row is paper_base
        label = " ".join(row[name] for name in self.label if row[name] != "none") if row else ""
        kind = "baseline" if baseline else "plain" if variant else "absent"
        labels = (label, str(variant) if variant else "")
        return Line(labels, variant, row, ours_base, paper_base, kind)


def student_tables(
    number: int,
    title: str,
    explanation: str,
    lines: StudentLines,
    quantities: tuple[Quantity, ...],
    speeds: tuple[Quantity, ...] = (),
) -> tuple[PaperTable, ...]:
    """Declare a table of qualities and sizes, and a table of `speeds` if there are any."""
    paper = papers.PAPERS[lines.paper]
    base = "the teacher" if lines.against_teacher else "the unpruned float32 model"
    brackets = (
        f"In brackets: each side against its own baseline, {base}: a difference for BLEU, a ratio (×) "
        "otherwise. A dash: not printed, or not in this experiment."
    )
    table = PaperTable(
        f"{lines.paper}_table{number}",
        f"{paper.file}_table{number}",
        f"{lines.paper.upper()} table {number}: {title}",
        explanation,
        Column.texts(model=f"{paper.name} row", ours="Our variant"),
        lines,
        lambda results: quantities,
        lambda results: [
            brackets,
            *_means(results, lines.paper, {quantity.key for quantity in quantities}),
            *_exceptions(lines.paper, number),
            *disagreement_notes(lines.paper, number),
        ],
        f"Table {number}",
        "paper_table",
        paper.name,
    )
    if not speeds:
        return (table,)
    speed_table = replace(
        table,
        title=f"{table.title}: speed",
        quantities=lambda results: speeds,
        notes=lambda results: [
            brackets,
            *_timing(results),
            *disagreement_notes(lines.paper, number, speeds=True),
        ],
        label=f"{table.label}: speed",
        caption="paper_speed_table",
        folder="speed",
        needs=("qualities", "sizes", "speeds"),
    )
    return (table, speed_table)


def _means(results: Results, paper: str, shown: set[str]) -> list[str]:
    columns = results.config["report"]["columns"].get(paper, {})
    means = [f"{key} = {', '.join(names)}" for key, names in columns.items() if key in shown]
    return [f"Our test sets beside the paper's (their mean): {'; '.join(means)}."] if means else []


def _exceptions(paper: str, number: int) -> list[str]:
    """Explain the zoo's entries whose figures, as printed in a table, cannot be reproduced."""
    printed = {*papers.load_table(paper, number)["model"]}
    return [
        f"{name}: {entry['note']}."
        for name, entry in read_yaml(MODELS).items()
        if entry.get("paper") == paper and "note" in entry and name in printed
    ]


def _timing(results: Results) -> list[str]:
    """Name the engines that produced the speeds, "students by the …, the teacher by the …", and the settings."""
    if not results.speeds:
        return []
    shown: dict[str, dict[str, None]] = {}
    for variant in lookup.variants(results):
        for engine in lookup.engines(results, variant)[:1]:
            who = "the teacher" if variant.student == lookup.TEACHER else "students"
            shown.setdefault(engine, {})[who] = None
    engines = ", ".join(f"{' and '.join(who)} by the {engine}" for engine, who in shown.items())
    row, cores = lookup.whole_text(results), max(speed.cores for speed in results.speeds)
    part = lookup.teachers_part(results.speeds, lookup.AT_ITS_SPEED)
    return [
        f"Ours: {engines}; {lookup.source_words(row)} in {row.sentences:,} sentences{part}, batches of "
        f"{row.batch_size}, median of {len(row.seconds)} interleaved rounds, one core and {cores} "
        f"cores of {row.hardware}. Students search greedily where no beam is named."
    ]


def in_table1(row: Printed) -> Key:
    """Return the key of a row of table 1 of a paper: a student as trained, or the teacher."""
    model = row["model"]
    return (model, lookup.TEACHER if model.startswith(lookup.TEACHER) else "unpruned", "float32")


def trained(variant: Variant) -> bool:
    """Return True if table 1 shows the variant: an unpruned float32 student, its other searches, or a teacher."""
    return (variant.recipe == "unpruned" or variant.is_search) and variant.precision == "float32"


def in_table3(precisions: Mapping[str, str]) -> Callable[[Printed], Key]:
    """Return the function from rows of table 3 (unpruned students) to keys.  precisions: the paper's name → ours."""
    return lambda row: (row["model"], "unpruned", precisions[row["precision"]])


def is_student(variant: Variant) -> bool:
    """Return True for a student's model with its own search."""
    return variant.student != lookup.TEACHER and not variant.is_search


def is_unpruned(variant: Variant) -> bool:
    """Return True for the unpruned model of a student with its own search."""
    return is_student(variant) and variant.recipe == "unpruned"
