"""Report on cleaning: rows dropped by each filter, recall and precision for injected damage, scores, examples."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weebill.corpus.cleaning.filters import FILTERS
from weebill.corpus.table import read_batches, read_schema
from weebill.experiment.scores import SCORES

EXAMPLES = 10  # rows shown for each filter
EXAMPLE = ("row", "source", "target", "noise")  # columns shown
# Filters and scores, in the order in which they are applied.
STEPS = (*FILTERS, *SCORES)
# Filters that reject undamaged rows on purpose; rows that they drop do not count in recall and precision.
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

    dropped: number of rows by filter, in order; filters without rows are left out.
    noise: for each label (None = undamaged), numbers of rows by the filter that dropped them (None = kept).
    examples: random rows by filter, as (row, source, target, noise).  scores: histograms by the names of the scores.
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
    # Each row draws a random number; the rows with the smallest are the examples: (number, row) by filter.
    random, examples = np.random.default_rng(seed), defaultdict(list)
    for batch in read_batches(table, columns, kept=False):
        rows = pa.table(batch)
        if "noise" not in names:
            rows = rows.append_column("noise", pa.nulls(batch.num_rows, pa.string()))
        groups = rows.group_by(["noise", "dropped_by"]).aggregate([([], "count_all")])
        for group in groups.to_pylist():
            counts[group["noise"]][group["dropped_by"]] += group["count_all"]
        numbers, filters = random.random(batch.num_rows), batch.column("dropped_by")
        for step in filters.unique().drop_null().to_pylist():
            own = np.flatnonzero(pc.equal(filters, step).fill_null(False).to_numpy(False))
            least = own[np.argsort(numbers[own])[:EXAMPLES]]
            chosen = rows.take(pa.array(least)).to_pylist()
            found = [*examples[step], *zip(numbers[least].tolist(), chosen, strict=True)]
            examples[step] = sorted(found, key=itemgetter(0))[:EXAMPLES]
    total = sum(counts.values(), Counter())
    dropped = {step: total[step] for step in STEPS if total[step]}
    scored = {score: found.column for score, found in SCORES.items() if found.column in names}
    in_order = {
        step: sorted((row for _, row in examples[step]), key=itemgetter("row")) for step in dropped
    }
    return CorpusReport(
        name,
        rows=total.total(),
        kept=total[None],
        dropped=dropped,
        noise=dict(counts),
        examples={step: [*map(itemgetter(*EXAMPLE), rows)] for step, rows in in_order.items()},
        scores={score: histogram(table, column) for score, column in scored.items()},
    )


def histogram(table: str | Path, column: str, bins: int = 50) -> Histogram:
    """Compute the distribution of a score over the rows that have it, in bins of equal width.

    The outermost bins also hold the lowest and highest 0.1 % of the values, so that a few extreme values do not push
    all others into one bin.  These limits are estimated on the first rows.
    """
    edges = None
    kept, dropped = np.zeros(bins, np.int64), np.zeros(bins, np.int64)
    for batch in read_batches(table, [column, "dropped_by"], kept=False):
        batch = batch.filter(batch.column(column).is_valid())
        values = batch.column(column).to_numpy(zero_copy_only=False)
        if not len(values):
            continue
        if edges is None:
            low, high = np.quantile(values, [0.001, 0.999])
            edges = np.linspace(low, max(high, low + 1e-6), bins + 1)
        left = batch.column("dropped_by").is_null().to_numpy(zero_copy_only=False)
        inside = np.clip(values, edges[0], edges[-1])
        kept += np.histogram(inside[left], edges)[0]
        dropped += np.histogram(inside[~left], edges)[0]
    edges = np.linspace(0.0, 1.0, bins + 1) if edges is None else edges
    return Histogram(edges.tolist(), kept.tolist(), dropped.tolist())


def waterfall(report: CorpusReport) -> list[dict]:
    """Return one row per step, with `precision`: the damaged share of the dropped rows, None without labels."""
    steps, left = [], report.rows
    for name, dropped in report.dropped.items():
        damaged = sum(c[name] for label, c in report.noise.items() if label is not None)
        known = report.labelled and name not in NOT_QUALITY
        steps.append(
            {
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

    precision: found rows of the kind, divided by the sum of these and the undamaged dropped rows.  Rows dropped by a
    filter in NOT_QUALITY count as neither found nor dropped.
    """
    other = (None, *NOT_QUALITY)
    found = {
        label: Counter({name: n for name, n in counts.items() if name not in other})
        for label, counts in report.noise.items()
    }
    clean_dropped = found.get(None, Counter()).total()
    rows = []
    for label in sorted(label for label in found if label is not None):
        hits, kept = found[label].total(), report.noise[label][None]
        rows.append(
            {
                "noise": label,
                "rows": hits + kept,
                "found": hits,
                "recall": hits / (hits + kept) if hits + kept else None,
                "precision": hits / (hits + clean_dropped) if hits + clean_dropped else None,
                "by": {name: found[label][name] for name in STEPS if found[label][name]},
            }
        )
    return rows


def as_json(reports: Sequence[CorpusReport]) -> dict:
    """Return the contents of all reports as JSON values, by corpus."""
    return {
        report.name: {
            "rows": report.rows,
            "kept": report.kept,
            "filters": waterfall(report),
            "noise": damage_found(report),
            "scores": {name: vars(found) for name, found in report.scores.items()},
            "examples": {
                name: [dict(zip(EXAMPLE, row, strict=True)) for row in rows]
                for name, rows in report.examples.items()
            },
        }
        for report in reports
    }
