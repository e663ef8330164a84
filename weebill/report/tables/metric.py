"""Table of the metrics' agreement with people."""

from typing import TYPE_CHECKING

from weebill.experiment.metrics import DISTILLED, ENSEMBLE, PRUNED, REFERENCE
from weebill.metric.judged_set import STATISTICS
from weebill.report.lookups import metric as lookup
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, fixed, three_digits

if TYPE_CHECKING:
    from weebill.evaluation.quality.metric_quality import Agreement

# Our metric → its name in the paper's tables.
PRINTED = {REFERENCE: "COMET", PRUNED: "PRUNE-COMET", DISTILLED: "DISTIL-COMET"}
MILLION = 1e6
LAYERS = "without-{}-top-layers"
MEAN = "avg"  # printed column with the mean of all others


def agreement_table(results: Results) -> Table:
    """Return every metric's agreement on every test set, with its interval and its difference to the reference."""
    sets = list(results.config["test_sets"])
    columns = [
        Column("metric", "Metric", numeric=False),
        Column("parameters_m", "Parameters, M"),
        Column("mib", "MiB"),
    ]
    for name in sets:
        for key, title in (
            ("tau", "τ"),
            ("low", "95 %, from"),
            ("high", "95 %, to"),
            ("difference", "less the reference's"),
            ("p", "p"),
        ):
            columns.append(Column(f"{name}_{key}", name, title))
    rows = []
    for metric in lookup.metrics(results):
        size = results.size(metric)
        cells = [
            Cell(metric),
            Cell(three_digits(size.parameters / MILLION) if size else ""),
            Cell(fixed(size.bytes / 2**20, 2) if size else ""),
        ]
        for name in sets:
            one = lookup.agreement(results, metric, name)
            cells += _agreement_cells(one)
        rows.append(Row(tuple(cells), "baseline" if metric == REFERENCE else "plain"))
    return Table(
        "agreement",
        "Agreement with people",
        "How well each metric's segment scores agree with people's, with 95 % bootstrap intervals over sources.",
        tuple(columns),
        tuple(rows),
        tuple(_notes(results)),
    )


def _agreement_cells(one: "Agreement | None") -> list[Cell]:
    if one is None:
        return [Cell()] * 5
    return [
        Cell(fixed(one.tau, 3)),
        Cell(fixed(one.low, 3)),
        Cell(fixed(one.high, 3)),
        Cell(difference(one.difference)),
        Cell(fixed(one.p_value, 3)),
    ]


def difference(value: float | None) -> str:
    """Format the difference of two agreements with its sign and three decimals, never "-0.000"; "" for None."""
    return "" if value is None else f"{round(value, 3) + 0.0:+.3f}"


def _notes(results: Results) -> list[str]:
    notes = []
    for name in results.config["test_sets"]:
        one = next(a for a in results.qualities if a.test_set == name)
        pairs = "" if one.pairs is None else f", {one.pairs:,} pairs"
        notes.append(
            f"{name}: {STATISTICS[one.statistic]}, {one.segments:,} segments{pairs}, SHA-256 of the judgements "
            f"{one.test_set_sha256[:16]}."
        )
    first = results.qualities[0]
    notes.append(
        f"p: by {results.config['evaluation']['permutations']:,} permutations against the reference; intervals by "
        f"{first.resamples:,} resamples, seed {first.seed}."
    )
    if ENSEMBLE in lookup.metrics(results):
        notes.append("The ensemble is the mean of all members; the reference is its first.")
    return notes
