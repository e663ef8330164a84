"""The table of filters and scores measured on labelled pairs."""

from collections.abc import Sequence

from goldcrest.corpus.labelled import FilterQuality
from goldcrest.report.table import Cell, Column, Row, Table, fixed


def filters_table(qualities: Sequence[FilterQuality], pairs: int, good: int) -> Table:
    """One row a filter or score."""
    rows = []
    for one in qualities:
        shares = (one.precision, one.recall, one.kept_precision, one.kept_recall)
        cells = [one.name, "" if one.dropped is None else str(one.dropped)]
        cells += [fixed(None if share is None else 100 * share, 1) for share in shares]
        rows.append(Row(tuple(Cell(cell) for cell in [*cells, fixed(one.auc, 3)])))
    return Table(
        "filters",
        "Cleaning measured on labelled pairs",
        f"{pairs:,} pairs that people have labelled, {good:,} of them good.",
        (
            Column("filter", "Filter or score", numeric=False),
            Column("dropped", "Dropped"),
            Column("bad_precision", "Bad pairs, %", "precision"),
            Column("bad_recall", "Bad pairs, %", "recall"),
            Column("good_precision", "Good pairs kept, %", "precision"),
            Column("good_recall", "Good pairs kept, %", "recall"),
            Column("auc", "ROC-AUC"),
        ),
        tuple(rows),
        (
            "Each filter is applied to all pairs; `all filters` is their chain.  ROC-AUC: the chance that a "
            "good pair stands above a bad one, ties counted half; 0.5 is chance.  Thresholds are the "
            "configuration's, and nothing is tuned on these pairs.",
        ),
    )
