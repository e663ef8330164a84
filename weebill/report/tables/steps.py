"""Table of the loss in quality at each step of an experiment, from the teacher to the smallest student."""

from weebill.evaluation.measurement import Variant
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table
from weebill.report.tables import comparisons


def steps_table(results: Results) -> Table:
    """Return a row for each variant's paired BLEU difference to the student; for a student, to its teacher.

    A pruned and quantized variant is also compared with the pruned one, and a fine-tuned one with the one before.
    """
    rows, shown = [], set()
    for one in results.steps:
        variant, baseline = Variant.parse(one.variant), Variant.parse(one.baseline)
        if variant == variant.baseline and baseline not in shown:
            shown.add(baseline)
            size = results.mebibytes(baseline)
            cells = [str(baseline), *comparisons.scores(one, "baseline_"), *[""] * 5, size]
            rows.append(Row.of(cells, baseline=True))
        sizes = map(results.mebibytes, (variant, baseline))
        cells = [str(variant), *comparisons.scores(one), str(baseline)]
        cells += [*comparisons.tested(one), Cell.compared(*sizes, "ratio")]
        rows.append(Row.of(cells))
    return Table(
        "steps",
        "What each step costs",
        "Each student beside its teacher, and what pruning and quantization make of it beside the student and beside "
        "the model before the last step.",
        (
            *Column.texts(variant="Variant"),
            *comparisons.SCORE,
            *Column.texts(baseline="Compared with"),
            *comparisons.DIFFERENCE,
            Column("size_mib", "MiB", deltas=True),
        ),
        rows,
        (
            f"{comparisons.PAIRED} In brackets: size as a ratio.",
            *map(comparisons.text_note, results.steps[:1]),
        ),
    )
