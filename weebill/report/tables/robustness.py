"""Table of the metrics' robustness to changed numbers and names."""

from typing import TYPE_CHECKING

from weebill.experiment.metrics import REFERENCE
from weebill.report.results import Results, first
from weebill.report.table import Column, Row, Table, fixed

if TYPE_CHECKING:
    from weebill.evaluation.quality.robustness import Robustness

DAMAGES = {"number": "a changed number", "name": "a changed name", "word": "a word left out"}


def robustness_table(results: Results) -> Table:
    """Return how often and by how much each metric scores damaged translations of a test set lower."""
    columns = Column.texts(metric="Metric", test_set="Test set")
    for key, title in DAMAGES.items():
        titles = {
            "noticed": "noticed, %",
            "low": "95 %, from",
            "high": "95 %, to",
            "drop": "drop, σ",
        }
        columns += Column.grouped(
            title.capitalize(), **{f"{key}_{part}": one for part, one in titles.items()}
        )
    rows = []
    for one in dict.fromkeys((row.metric, row.test_set) for row in results.robustness):
        cells = list(one)
        for key in DAMAGES:
            found = first(results.robustness, metric=one[0], test_set=one[1], damage=key)
            cells += _cells(found)
        rows.append(Row.of(cells, baseline=one[0] == REFERENCE))
    return Table(
        "robustness",
        "Changed numbers and names",
        "How often a metric scores a translation lower after it was damaged, with 95 % bootstrap intervals over "
        "sources, and the mean drop in standard deviations of the metric's scores of the test set.",
        columns,
        rows,
        _notes(results),
    )


def _cells(one: "Robustness | None") -> list[str]:
    if one is None:
        return [""] * 4
    shares = (one.noticed, one.noticed_low, one.noticed_high)
    return [*(fixed(100 * share, 1) for share in shares), fixed(one.drop, 2)]


def _notes(results: Results) -> list[str]:
    notes = []
    for name in dict.fromkeys(row.test_set for row in results.robustness):
        counts = []
        for key, title in DAMAGES.items():
            one = first(results.robustness, test_set=name, damage=key)
            counts.append(f"{one.segments:,} with {title}" if one else f"none that allows {title}")
        notes.append(f"{name}: translations {', '.join(counts)}.")
    return notes
