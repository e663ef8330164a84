"""Tables of filters and scores, measured on labelled pairs and on injected damage."""

from collections.abc import Sequence

from weebill.corpus.labelled import KEPT_GOOD, FilterQuality
from weebill.report.table import Column, Row, Table, fixed


def filters_table(qualities: Sequence[FilterQuality], pairs: int, good: int) -> Table:
    """Return a row for each filter or score: table `filters`, or `filters_damage` if kinds of damage are known."""
    rows, kinds = [], list(qualities[0].found)
    for one in qualities:
        shares = (one.precision, one.recall, one.kept_precision, one.kept_recall)
        cells = [one.name, str(one.dropped)]
        cells += [fixed(None if share is None else 100 * share, 1) for share in shares]
        cells += [fixed(value, 3) for value in (one.auc, one.auc_low, one.auc_high)]
        cells += [fixed(100 * one.found[kind], 1) for kind in kinds]
        rows.append(Row.of(cells))
    return Table(
        "filters_damage" if kinds else "filters",
        f"Cleaning measured on {'injected damage' if kinds else 'labelled pairs'}",
        f"{pairs:,} pairs, {pairs - good:,} of them damaged on purpose."
        if kinds
        else f"{pairs:,} pairs that people have labelled, {good:,} of them good.",
        (
            Column("filter", "Filter or score", numeric=False),
            Column("dropped", "Dropped"),
            *Column.grouped("Bad pairs, %", bad_precision="precision", bad_recall="recall"),
            *Column.grouped("Good pairs kept, %", good_precision="precision", good_recall="recall"),
            Column("auc", "ROC-AUC"),
            *Column.grouped("ROC-AUC", auc_low="95 %, from", auc_high="to"),
            *(Column(f"found_{kind}", "Found, %", kind.replace("_", " ")) for kind in kinds),
        ),
        rows,
        (
            "Each filter is applied to all pairs; `all filters` is their chain.  ROC-AUC: the chance that a "
            "good pair scores higher than a bad one, ties counted half; 0.5 is chance; 95 % bootstrap interval.",
            f"A score drops nothing by itself: its precision and recall are those of the cut that keeps "
            f"{100 * KEPT_GOOD:.0f} % of the good pairs.  `combined` is a logistic regression over all scores and "
            "six features of the text, in five-fold cross-validation.",
            "The filters' thresholds are the configuration's.  Tuned on pairs such as these: the weights of "
            "`combined`, in each fold on the others, the choice of its features, and of the lexical score's "
            "form, on the labelled ParaCrawl of the WMT18 filtering task.",
        ),
    )
