"""What cleaning did: rows lost to each filter, how well labelled damage was found, examples.

A filter's waterfall is a group-by of `dropped_by`.  Synthetic corpora carry labels of injected damage
(`noise`), so for these recall and precision are known too.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from goldcrest.corpus.cleaning.filters import FILTERS
from goldcrest.corpus.table import read_batches, read_schema

EXAMPLES = 3  # rows shown of each filter
# Filters that reject rows which are no damage: their rows count neither for nor against.
NOT_QUALITY = ("test_overlap",)


@dataclass
class CorpusReport:
    """One corpus after cleaning.

    dropped: rows by filter, in the order of the filters, those without rows left out.
    noise: for each label (None = undamaged) what became of its rows: counts by filter, None = kept.
    examples: by filter, its first rows as (row, source, target, noise).
    """

    name: str
    rows: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    noise: dict[str | None, Counter] = field(default_factory=dict)
    examples: dict[str, list[tuple]] = field(default_factory=dict)

    @property
    def labelled(self) -> bool:
        """Whether some rows are known to be damaged."""
        return any(label is not None for label in self.noise)


def corpus_report(name: str, table: str | Path) -> CorpusReport:
    """Read one cleaned table, as a stream."""
    columns = ["dropped_by", "row", "source", "target"]
    has_noise = "noise" in read_schema(table).names
    counts: dict[str | None, Counter] = defaultdict(Counter)
    examples: dict[str, list[tuple]] = defaultdict(list)
    for batch in read_batches(table, columns + ["noise"] * has_noise, kept=False):
        labels = batch.column("noise") if has_noise else pa.nulls(batch.num_rows, pa.string())
        outcome = pa.table({"noise": labels, "dropped_by": batch.column("dropped_by")})
        groups = outcome.group_by(["noise", "dropped_by"]).aggregate([([], "count_all")])
        for group in groups.to_pylist():
            counts[group["noise"]][group["dropped_by"]] += group["count_all"]
            found = examples[group["dropped_by"]]
            if group["dropped_by"] is not None and len(found) < EXAMPLES:
                chosen = batch.filter(pc.equal(batch.column("dropped_by"), group["dropped_by"]))
                for row in chosen.slice(0, EXAMPLES).to_pylist():
                    example = row["row"], row["source"], row["target"], row.get("noise")
                    if len(found) < EXAMPLES and example not in found:
                        found.append(example)
    total = sum(counts.values(), Counter())
    dropped = {name: total[name] for name in FILTERS if total[name]}
    return CorpusReport(
        name,
        rows=total.total(),
        kept=total[None],
        dropped=dropped,
        noise=dict(counts),
        examples={name: examples[name] for name in dropped},
    )


def waterfall(report: CorpusReport) -> list[dict]:
    """One row a step: rows before, dropped, rows after; `precision` where damage is labelled.

    precision: the share of the dropped rows that had been damaged.
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
    """One row a kind of damage: how much of it was found, and how pure a find it is.

    recall: found among all damaged rows of the kind.  precision: found rows of the kind among these and
    the undamaged rows that were dropped.  Rows dropped for other reasons than quality do not count.
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
                "by": {name: found[label][name] for name in FILTERS if found[label][name]},
            }
        )
    return rows


def _quality(counts: Counter) -> Counter:
    other = (None, *NOT_QUALITY)
    return Counter({name: n for name, n in counts.items() if name not in other})


def as_json(reports: Sequence[CorpusReport]) -> dict:
    """Everything, by corpus."""
    return {
        report.name: {
            "rows": report.rows,
            "kept": report.kept,
            "filters": [_without(step, "corpus") for step in waterfall(report)],
            "noise": [_without(row, "corpus") for row in damage_found(report)],
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
