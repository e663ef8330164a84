"""Tables that compare our students with WNGT20's and WMT21's, row by row.

A row of the paper is a student, a pruning recipe and a precision.  It is compared with our variant of the same
recipe and precision, of the student that `report.rows` assigns to the row.  Languages, data and machines differ,
so the numbers themselves cannot be compared.  The delta of each number to its own baseline can; the tables show
it with every number.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from weebill.evaluation.measurement import Variant
from weebill.experiment.zoo import MODELS
from weebill.report import papers
from weebill.report.lookups import translation as lookup
from weebill.report.lookups.translation import TEACHER
from weebill.report.results import Results
from weebill.report.table import Column
from weebill.report.tables.beside_papers.comparison import Line, PaperTable, Printed, Quantity
from weebill.yaml_files import read_yaml

Key = tuple[str, str, str]  # row of table 1, recipe, precision
Recipes = Mapping[str, Mapping[str, Any]]
TIMES = ("qualities", "sizes", "speeds")


@dataclass(frozen=True)
class StudentLines:
    """Rows of a table of students: the paper's in their order, each with our corresponding variant."""

    paper: str
    key: Callable[[Printed], Key]
    ours_too: Callable[[Variant], bool]  # True for our variants to show without a row in the paper
    label: tuple[str, ...] = ("model",)  # the paper's columns that name a row
    against_teacher: bool = False  # baseline: the teacher, not the unpruned float32 student
    recipes_too: Callable[[Recipes, str], bool] = lambda recipes, name: True  # limits `ours_too`

    def __call__(self, results: Results, printed: list[Printed]) -> list[Line]:
        """Return the lines; variants without a row in the paper follow the last row of the same model."""
        rows = {self.key(row): row for row in printed}
        pairs = self._pairs(results, [(self.key(row), row) for row in printed])
        return [self._line(results, rows, *pair) for pair in pairs]

    def _pairs(
        self, results: Results, rows: list[tuple[Key, Printed]]
    ) -> list[tuple[Printed | None, Variant | None]]:
        """Return pairs of the paper's row and our variant, either of which may be missing."""
        keys = [key for key, _ in rows]
        places = {v: self._place(v, results) for v in lookup.variants(results)}
        waiting = {
            v: place for v, place in places.items() if self._belongs(v, results) or place in keys
        }
        pairs: list[tuple[Printed | None, Variant | None]] = []
        for index, (key, row) in enumerate(rows):
            beside = [v for v, place in waiting.items() if place == key]
            pairs += [(row, variant) for variant in beside] or [(row, None)]
            if key[0] not in [later[0] for later in keys[index + 1 :]]:
                alone = [v for v, p in waiting.items() if p[0] == key[0] and p not in keys]
                pairs += [(None, variant) for variant in alone]
                beside += alone
            waiting = {v: place for v, place in waiting.items() if v not in beside}
        return pairs + [(None, variant) for variant in waiting]

    def _belongs(self, variant: Variant, results: Results) -> bool:
        """Return True if the table shows a variant that has no row in the paper."""
        recipes = results.config["pruning"]
        pruned = variant.recipe in recipes
        return self.ours_too(variant) and (not pruned or self.recipes_too(recipes, variant.recipe))

    def _place(self, variant: Variant, results: Results) -> Key:
        row = lookup.row_of(results, variant, self.paper) or ""
        if variant == lookup.teacher(results):
            return (row, TEACHER, variant.precision)
        return (row, variant.recipe, variant.precision)

    def _line(
        self,
        results: Results,
        rows: Mapping[Key, Printed],
        row: Printed | None,
        variant: Variant | None,
    ) -> Line:
        if self.against_teacher:
            ours_base = lookup.teacher(results)
            paper_base = next((r for r in rows.values() if r["model"].startswith(TEACHER)), None)
        else:
            ours_base = variant.baseline if variant else None
            paper_base = rows.get((self.key(row)[0], "unpruned", "float32")) if row else None
        baseline = variant == ours_base if variant else row is paper_base
        label = " ".join(row[name] for name in self.label if row[name] != "none") if row else ""
        return Line(
            (label, str(variant) if variant else ""),
            variant,
            row,
            ours_base,
            paper_base,
            "baseline" if baseline else "plain" if variant else "absent",
        )


def student_tables(
    paper: str,
    number: int,
    title: str,
    explanation: str,
    lines: StudentLines,
    quantities: tuple[Quantity, ...],
    speeds: tuple[Quantity, ...] = (),
) -> tuple[PaperTable, ...]:
    """Declare a table of qualities and sizes, and a table of `speeds` if there are any."""
    file, name = papers.PAPERS[paper]
    place = {
        "name": f"{paper}_table{number}",
        "csv": f"{file}_table{number}",
        "explanation": explanation,
        "labels": (
            Column("model", f"{name} row", numeric=False),
            Column("ours", "Our variant", numeric=False),
        ),
        "lines": lines,
        "paper": name,
    }
    shown = {quantity.key for quantity in quantities}
    exceptions = paper if number == 1 else None
    tables = [
        PaperTable(
            **place,
            title=title,
            quantities=lambda results: quantities,
            notes=lambda results: [
                _brackets(lines),
                *_means(results, paper, shown),
                *_exceptions(exceptions),
            ],
            label=f"Table {number}",
            caption="paper_table",
        )
    ]
    if speeds:
        speed_table = PaperTable(
            **place,
            title=f"{title}: speed",
            quantities=lambda results: speeds,
            notes=lambda results: [_brackets(lines), *_timing(results)],
            label=f"Table {number}: speed",
            caption="paper_speed_table",
            folder="speed",
            needs=TIMES,
        )
        tables.append(speed_table)
    return tuple(tables)


def _brackets(lines: StudentLines) -> str:
    base = "the teacher" if lines.against_teacher else "the unpruned float32 model"
    return (
        f"In brackets: each side against its own baseline, {base}: a difference for BLEU, a ratio (×) "
        "otherwise. A dash: not printed, or not in this experiment."
    )


def _means(results: Results, paper: str, shown: set[str]) -> list[str]:
    columns = results.config["report"]["columns"].get(paper, {})
    means = [f"{key} = {', '.join(names)}" for key, names in columns.items() if key in shown]
    if not means:
        return []
    return [f"Our test sets beside the paper's (their mean): {'; '.join(means)}."]


def _exceptions(paper: str | None) -> list[str]:
    """Explain the zoo's entries whose printed figures cannot be reproduced."""
    zoo = read_yaml(MODELS).items() if paper else ()
    noted = [
        (name, entry) for name, entry in zoo if entry.get("paper") == paper and "note" in entry
    ]
    return [f"{name}: {entry['note']}." for name, entry in noted]


def _timing(results: Results) -> list[str]:
    if not results.speeds:
        return []
    row = results.speeds[0]
    cores = max(speed.cores for speed in results.speeds)
    return [
        f"Ours: {_engines(results)}; {row.words:,} source words in {row.sentences:,} sentences, batches of "
        f"{row.batch_size}, median of {len(row.seconds)} interleaved rounds, one core and {cores} "
        f"cores of {row.hardware}. Students search greedily where no beam is named."
    ]


def _engines(results: Results) -> str:
    """Name the engines that produced the speeds: "students by the …, the teacher by the …"."""
    shown: dict[str, list[str]] = {}
    for variant in lookup.variants(results):
        for engine in lookup.engines(results, variant)[:1]:
            who = "the teacher" if variant.student == TEACHER else "students"
            shown.setdefault(engine, [])
            if who not in shown[engine]:
                shown[engine].append(who)
    return ", ".join(f"{' and '.join(who)} by the {engine}" for engine, who in shown.items())


def in_table1(row: Printed) -> Key:
    """Return the key of a row of a table 1: a student as trained, or the teacher."""
    model = row["model"]
    return (model, TEACHER if model.startswith(TEACHER) else "unpruned", "float32")


def trained(variant: Variant) -> bool:
    """Return True if a table 1 shows the variant: teachers, unpruned float32 students, and their searches."""
    return (variant.recipe == "unpruned" or variant.is_search) and variant.precision == "float32"


def is_student(variant: Variant) -> bool:
    """Return True for a student's model with its own search."""
    return variant.student != TEACHER and not variant.is_search
