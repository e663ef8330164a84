"""Table of the metrics' agreement with people."""

from typing import TYPE_CHECKING

from weebill.experiment.metrics import ENSEMBLE, REFERENCE
from weebill.metric.judged_set import STATISTICS
from weebill.report.results import Results, first
from weebill.report.table import Column, Row, Table, fixed, probability, signed, three_digits

if TYPE_CHECKING:
    from weebill.evaluation.quality.metric_quality import Agreement


def agreement_table(results: Results) -> Table:
    """Return every metric's agreement on every test set, with its interval and its difference to the reference."""
    sets = results.config["test_sets"]
    columns = [
        Column("metric", "Metric", numeric=False),
        Column("parameters_m", "Parameters, M"),
        Column("mib", "MiB"),
    ]
    titles = {"tau": "τ", "low": "95 %, from", "high": "95 %, to"}
    titles |= {
        "difference": "difference to the reference",
        "difference_low": "difference, 95 %, from",
        "difference_high": "difference, 95 %, to",
        "p": "p",
    }
    for name in sets:
        columns += Column.grouped(name, **{f"{name}_{key}": title for key, title in titles.items()})
    rows = []
    for metric in results.metrics():
        size = results.size(metric)
        cells = [
            metric,
            three_digits(size.parameters / 1e6) if size else "",
            fixed(size.mib, 2) if size else "",
        ]
        for name in sets:
            cells += _agreement_cells(results.agreement(metric, name))
        rows.append(Row.of(cells, baseline=metric == REFERENCE))
    return Table(
        "agreement",
        "Agreement with people",
        "How well each metric's segment scores agree with people's, with 95 % bootstrap intervals over sources.",
        columns,
        rows,
        _notes(results),
    )


def _agreement_cells(one: "Agreement | None") -> list[str]:
    if one is None:
        return [""] * 7
    bounds = (fixed(value, 3) for value in (one.tau, one.low, one.high))
    differences = (one.difference, one.difference_low, one.difference_high)
    return [*bounds, *(signed(value, 3) for value in differences), probability(one.p_value)]


def _notes(results: Results) -> list[str]:
    notes = []
    for name in results.config["test_sets"]:
        one = first(results.qualities, test_set=name)
        pairs = "" if one.pairs is None else f", {one.pairs:,} pairs"
        notes.append(
            f"{name}: {STATISTICS[one.statistic]}, {one.segments:,} segments{pairs}, SHA-256 of the judgements "
            f"{one.test_set_sha256[:16]}."
        )
    one = results.qualities[0]
    notes.append(
        f"p: probability of such a difference by chance, by {results.config['evaluation']['permutations']:,} "
        f"permutations; intervals: {one.resamples:,} bootstrap resamples, seed {one.seed}."
    )
    if ENSEMBLE in results.metrics():
        notes.append("The ensemble is the mean of all members; the reference is its first.")
    return notes
