"""Markdown page with all results of a metric experiment, generated from its measurements."""

from collections.abc import Mapping, Sequence

from weebill.experiment.metrics import REFERENCE
from weebill.report.costs import Job
from weebill.report.front import metric as front
from weebill.report.pages.page import introduction, pictures, results_page
from weebill.report.results import Results
from weebill.report.table import ABSENT, fixed, signed
from weebill.report.tables.beside_papers.comparison import paper_tables
from weebill.report.tables.claims.metric import cometinho_claims
from weebill.report.tables.metric import agreement_table
from weebill.report.tables.robustness import robustness_table
from weebill.report.tables.run_time import run_time_table


def metric_page(results: Results, jobs: Sequence[Job], figures: Mapping[str, str]) -> str:
    """Write the page as Markdown; figures: heading → picture."""
    tables = [agreement_table(results)]
    tables += [robustness_table(results)] if results.robustness else []
    tables += [table.build(results) for table in paper_tables("metric")]
    ahead = front.front(results, jobs, [])
    first, rest = pictures(figures)
    return results_page(
        results,
        introduction(results.config, "Metrics of translation"),
        [*ahead.verdict, *in_short(results)],
        [ahead.table, *first],
        [*tables, cometinho_claims(results), *rest, run_time_table(jobs)],
        {one.metric: one.model_sha256 for one in results.sizes},
    )


def in_short(results: Results) -> list[str]:
    """Return sentences on the agreement of all metrics, and on the loss and gain of each smaller metric."""
    lines = []
    whole = results.size(REFERENCE)
    for name in results.config["test_sets"]:
        agreements = [results.agreement(metric, name) for metric in results.metrics()]
        shown = [f"{one.metric} {fixed(one.tau, 3) or ABSENT}" for one in agreements if one]
        lines.append(f"τ on {name}: {', '.join(shown)}.")
    for metric in results.metrics():
        size = results.size(metric)
        if not size or not whole or size.parameters >= whole.parameters:
            continue
        changes = [
            f"{signed(one.difference, 3).replace('-', '−')} on {name}"
            for name in results.config["test_sets"]
            if (one := results.agreement(metric, name)) and one.difference is not None
        ]
        share = 1 - size.parameters / whole.parameters
        told = f"`{metric}`: {share:.0%} fewer parameters than the reference"
        lines.append(f"{told}; its τ differs by {', '.join(changes)}." if changes else f"{told}.")
    return lines
