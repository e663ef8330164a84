"""Table of students that were trained on the corpora after each stage of the cleaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weebill.report.table import Cell, Column, Row, Table, fixed, signed

if TYPE_CHECKING:
    from weebill.evaluation.quality.comparison import Comparison


@dataclass(frozen=True)
class StageResult:
    """Stage of the cleaning: the pairs it leaves, and its student compared with that of the stage `none`.

    damaged: pairs left that were damaged on purpose, None if no corpus has labels of damage.  single: comparison on
    each test set; together: on all test sets as one text.
    """

    stage: str
    pairs: int
    damaged: int | None
    single: "Sequence[Comparison]"
    together: "Comparison"


def cleaning_students_table(student: str, results: Sequence[StageResult]) -> Table:
    """Return a row for each stage; the others are compared with the first."""
    first = results[0].together
    columns = [
        Column("stage", "Cleaning", numeric=False),
        Column("pairs", "Pairs"),
        Column("damaged", "Damaged pairs"),
    ]
    for name in first.test_sets:
        columns += [
            Column(f"bleu_{name}", f"BLEU, {name}"),
            Column(f"bleu_{name}_low", f"BLEU, {name}", "95 %, from"),
            Column(f"bleu_{name}_high", f"BLEU, {name}", "to"),
        ]
    columns += [
        Column("difference", "Difference, all test sets"),
        Column("difference_low", "Difference, all test sets", "95 %, from"),
        Column("difference_high", "Difference, all test sets", "to"),
        Column("p", "p"),
    ]
    return Table(
        "cleaning_students",
        "What cleaning is worth",
        f"{student}, trained on the corpora themselves, without a teacher, as each stage of the cleaning left them.",
        tuple(columns),
        tuple(_row(one, baseline=one is results[0]) for one in results),
        (
            "none: all pairs but empty ones and those of test sets. rules: those that the filters leave. scores: "
            "those that the scores leave of these. weights: these, each weighted by its score. The text is "
            "normalised in all, and the vocabulary is that of the cleaned text.",
            "One seed. Differences to `none`, above 0 where the student is better, of all test sets as one text; "
            "their interval and p by paired bootstrap resampling of sentences, which knows nothing of seeds.",
            f"Signature {first.signature}.",
        ),
    )


def _row(one: StageResult, baseline: bool) -> Row:
    cells = [one.stage, str(one.pairs), "" if one.damaged is None else str(one.damaged)]
    for single in one.single:
        cells += [fixed(value, 2) for value in (single.score, single.low, single.high)]
    together = one.together
    if baseline:
        cells += [""] * 4
    else:
        differences = (together.difference, together.difference_low, together.difference_high)
        cells += map(signed, differences)
        cells += [fixed(together.p_value, 3)]
    return Row(tuple(map(Cell, cells)), "baseline" if baseline else "plain")
