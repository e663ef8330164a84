"""Report on cleaning: rows dropped by each filter, recall and precision for injected damage, scores, examples.

The counts of a waterfall are a group-by of `dropped_by`.  Corpora with injected damage have labels of the damage
(`noise`), so recall and precision are known for them.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weebill.corpus.cleaning.filters import FILTERS
from weebill.corpus.table import read_batches, read_schema
from weebill.experiment.scores import SCORES

EXAMPLES = 10  # rows shown of each filter
# Filters and scores, in the order in which they are applied.
STEPS = (*FILTERS, *SCORES)
# Filters that reject undamaged rows on purpose; their rows do not count in recall and precision.
NOT_QUALITY = ("test_overlap",)


@dataclass(frozen=True)
class Histogram:
    """Distribution of a score.

    edges: (bins + 1,).  kept, dropped: numbers of rows (bins,); any filter or score may have dropped them.
    """

    edges: list[float]
    kept: list[int]
    dropped: list[int]


@dataclass
class CorpusReport:
    """Report on one corpus after cleaning.

    dropped: number of rows by filter, in the order of the filters; filters without rows are left out.
    noise: counts of each label's rows (None = undamaged), by the filter that dropped them (None = kept).
    examples: random rows by filter, in order, as (row, source, target, noise).
    scores: histograms by the names of the scores.
    """

    name: str
    rows: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    noise: dict[str | None, Counter] = field(default_factory=dict)
    examples: dict[str, list[tuple]] = field(default_factory=dict)
    scores: dict[str, Histogram] = field(default_factory=dict)

    @property
    def labelled(self) -> bool:
        """True if some rows have labels of damage."""
        return any(label is not None for label in self.noise)


def corpus_report(name: str, table: str | Path, seed: int = 1) -> CorpusReport:
    """Make the report on one cleaned table, which is read as a stream.  seed: determines the examples."""
    names = read_schema(table).names
    columns = ["dropped_by", "row", "source", "target", *(["noise"] if "noise" in names else [])]
    counts: dict[str | None, Counter] = defaultdict(Counter)
    examples = _Examples(seed)
    for batch in read_batches(table, columns, kept=False):
        labels = (
            batch.column("noise") if "noise" in names else pa.nulls(batch.num_rows, pa.string())
        )
        outcome = pa.table({"noise": labels, "dropped_by": batch.column("dropped_by")})
        groups = outcome.group_by(["noise", "dropped_by"]).aggregate([([], "count_all")])
        for group in groups.to_pylist():
            counts[group["noise"]][group["dropped_by"]] += group["count_all"]
        examples.draw(batch)
    total = sum(counts.values(), Counter())
    dropped = {name: total[name] for name in STEPS if total[name]}
    return CorpusReport(
        name,
        rows=total.total(),
        kept=total[None],
        dropped=dropped,
        noise=dict(counts),
        examples={name: examples.of(name) for name in dropped},
        scores={
            name: histogram(table, score.column)
            for name, score in SCORES.items()
            if score.column in names
        },
    )


class _Examples:
    """Random sample of EXAMPLES rows per filter: each row draws a number, and the rows with the least are kept."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._drawn: dict[str, list[tuple[float, dict]]] = defaultdict(list)

    def draw(self, batch: pa.RecordBatch) -> None:
        """Draw numbers for the rows of a batch, and keep the rows with the least."""
        numbers = self._random.random(batch.num_rows)
        filters = batch.column("dropped_by")
        for name in filters.unique().drop_null().to_pylist():
            rows = np.flatnonzero(pc.equal(filters, name).fill_null(False).to_numpy(False))
            least = rows[np.argsort(numbers[rows])[:EXAMPLES]]
            found = zip(
                numbers[least].tolist(), batch.take(pa.array(least)).to_pylist(), strict=True
            )
            both = sorted([*self._drawn[name], *found], key=lambda pair: pair[0])
            self._drawn[name] = both[:EXAMPLES]

    def of(self, name: str) -> list[tuple]:
        """Return the examples of a filter in the order of their rows."""
        rows = sorted((row for _, row in self._drawn[name]), key=lambda row: row["row"])
        return [(row["row"], row["source"], row["target"], row.get("noise")) for row in rows]


def histogram(table: str | Path, column: str, bins: int = 50) -> Histogram:
    """Compute the distribution of a score over the rows that have it, in bins of equal width.

    The outermost bins also hold the lowest and the highest 0.1 % of the values, so that a few extreme values do not
    push all others into one bin.  These limits are estimated on the first rows.
    """
    ends = None
    kept, dropped = np.zeros(bins, np.int64), np.zeros(bins, np.int64)
    edges = np.linspace(0.0, 1.0, bins + 1)
    for batch in read_batches(table, [column, "dropped_by"], kept=False):
        batch = batch.filter(batch.column(column).is_valid())
        values = batch.column(column).to_numpy(zero_copy_only=False)
        if not len(values):
            continue
        if ends is None:
            ends = np.quantile(values, [0.001, 0.999])
            edges = np.linspace(ends[0], max(ends[1], ends[0] + 1e-6), bins + 1)
        left = batch.column("dropped_by").is_null().to_numpy(zero_copy_only=False)
        inside = np.clip(values, edges[0], edges[-1])
        kept += np.histogram(inside[left], edges)[0]
        dropped += np.histogram(inside[~left], edges)[0]
    return Histogram(edges.tolist(), kept.tolist(), dropped.tolist())


def waterfall(report: CorpusReport) -> list[dict]:
    """Return one row per step: rows before, dropped rows, rows after, and `precision`.

    precision: damaged share of the dropped rows; None if damage is not labelled.
    """
    steps, left = [], report.rows
    for name, dropped in report.dropped.items():
        damaged = sum(c[name] for label, c in report.noise.items() if label is not None)
        known = report.labelled and name not in NOT_QUALITY
        steps.append(
            {
                "corpus": report.name,
                "filter": name,
                "rows_before": left,
                "dropped": dropped,
                "rows_after": left - dropped,
                "precision": damaged / dropped if known else None,
            }
        )
        left -= dropped
    if left != report.kept:
        raise ValueError(f"{report.name}: {left} rows left after all filters, {report.kept} kept")
    return steps


def damage_found(report: CorpusReport) -> list[dict]:
    """Return one row per kind of damage, with recall and precision of the search for it.

    recall: found share of all damaged rows of the kind.  precision: found rows of the kind, divided by these and
    the undamaged dropped rows together.  Rows dropped by a filter in NOT_QUALITY do not count as found or dropped.
    """
    found = {label: _quality(counts) for label, counts in report.noise.items()}
    clean_dropped = found.get(None, Counter()).total()
    rows = []
    for label in sorted(label for label in found if label is not None):
        hits, kept = found[label].total(), report.noise[label][None]
        rows.append(
            {
                "corpus": report.name,
                "noise": label,
                "rows": hits + kept,
                "found": hits,
                "recall": hits / (hits + kept) if hits + kept else None,
                "precision": hits / (hits + clean_dropped) if hits + clean_dropped else None,
                "by": {name: found[label][name] for name in STEPS if found[label][name]},
            }
        )
    return rows


def _quality(counts: Counter) -> Counter:
    other = (None, *NOT_QUALITY)
    return Counter({name: n for name, n in counts.items() if name not in other})


def as_json(reports: Sequence[CorpusReport]) -> dict:
    """Return the contents of all reports as JSON values, by corpus."""
    return {
        report.name: {
            "rows": report.rows,
            "kept": report.kept,
            "filters": [_without(step, "corpus") for step in waterfall(report)],
            "noise": [_without(row, "corpus") for row in damage_found(report)],
            "scores": {name: vars(found) for name, found in report.scores.items()},
            "examples": {
                name: [
                    dict(zip(("row", "source", "target", "noise"), row, strict=True))
                    for row in rows
                ]
                for name, rows in report.examples.items()
            },
        }
        for report in reports
    }


def _without(row: Mapping, key: str) -> dict:
    return {name: value for name, value in row.items() if name != key}
