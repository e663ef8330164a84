"""Table of students trained on the corpora after each stage of cleaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weebill.report.table import Column, Row, Table
from weebill.report.tables.comparisons import RESAMPLED, scores, tested

if TYPE_CHECKING:
    from weebill.evaluation.quality.comparison import Comparison


@dataclass(frozen=True)
class StageResult:
    """Stage of cleaning: the number of kept pairs, and its student compared with that of the stage `none`."""

    stage: str
    pairs: int
    damaged: int | None  # pairs damaged on purpose; None if no corpus has labels of damage
    single: "Sequence[Comparison]"  # on each test set
    together: "Comparison"  # on all test sets as one text


def cleaning_students_table(student: str, results: Sequence[StageResult]) -> Table:
    """Return a row for each stage; all others are compared with the first."""
    first = results[0].together
    columns = [
        Column("stage", "Cleaning", numeric=False),
        Column("pairs", "Pairs"),
        Column("damaged", "Damaged pairs"),
    ]
    for name in first.test_sets:
        key, title = f"bleu_{name}", f"BLEU, {name}"
        columns.append(Column(key, title))
        columns += Column.grouped(title, **{f"{key}_low": "95 %, from", f"{key}_high": "to"})
    title = "Difference, all test sets"
    columns += [
        Column("difference", title),
        *Column.grouped(title, difference_low="95 %, from", difference_high="to"),
        Column("p", "p"),
    ]
    return Table(
        "cleaning_students",
        "What cleaning is worth",
        f"{student}, trained on the corpora themselves, without a teacher, as each stage of the cleaning left them.",
        columns,
        [_row(one, baseline=one is results[0]) for one in results],
        (
            "none: all pairs except empty ones and those in test sets. rules: the pairs that the filters keep. "
            "scores: the pairs of these that the scores keep. weights: the same pairs, each weighted by its score. "
            "The text is always normalised, and the vocabulary is always that of the cleaned text.",
            "One seed. Differences to `none` are of all test sets as one text, and above 0 where the student is "
            f"better. Their interval and p: {RESAMPLED} What another seed would change is not part of them.",
            f"Signature {first.signature}.",
        ),
    )


def _row(one: StageResult, baseline: bool) -> Row:
    cells = [one.stage, str(one.pairs), "" if one.damaged is None else str(one.damaged)]
    for single in one.single:
        cells += scores(single)
    if baseline:
        return Row.of([*cells, *[""] * 4], baseline)
    return Row.of([*cells, *tested(one.together)])
