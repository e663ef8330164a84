"""One page of Markdown with all results of a metric experiment, generated from its measurements."""

from collections.abc import Mapping

from weebill.experiment.metrics import REFERENCE
from weebill.report.metric_results import MetricResults
from weebill.report.metric_tables import (
    agreement_table,
    claims_table,
    difference,
    paper_table,
)
from weebill.report.results_page import environment_lines, results_page
from weebill.report.table import ABSENT, Table, fixed


def metric_page(results: MetricResults, run_time: Table, figures: Mapping[str, str]) -> str:
    """The page; figures: heading → link of a picture."""
    tables = [agreement_table(results), *(paper_table(results, number) for number in (1, 2))]
    return results_page(
        results.config,
        "Metrics of translation",
        "metric_page",
        in_short(results),
        [*tables, claims_table(results), run_time],
        figures,
        environment_lines(
            [one.versions for one in results.agreements],
            [one.hardware for one in results.speeds],
            {one.metric: one.model_sha256 for one in results.sizes},
        ),
    )


def in_short(results: MetricResults) -> list[str]:
    """What is lost and gained by each metric that is made of the reference, as sentences."""
    lines = []
    whole = results.size(REFERENCE)
    for name in results.config["test_sets"]:
        agreements = [results.agreement(metric, name) for metric in results.metrics]
        shown = [f"{one.metric} {fixed(one.tau, 3) or ABSENT}" for one in agreements if one]
        lines.append(f"{name}: τ of {', '.join(shown)}.")
    for metric in results.metrics:
        size = results.size(metric)
        if (
            metric == REFERENCE
            or size is None
            or whole is None
            or size.parameters >= whole.parameters
        ):
            continue
        changes = [
            f"{difference(one.difference).replace('-', '−')} on {name}"
            for name in results.config["test_sets"]
            if (one := results.agreement(metric, name)) and one.difference is not None
        ]
        share = 1 - size.parameters / whole.parameters
        told = f"`{metric}`: {share:.0%} fewer parameters than the reference"
        lines.append(f"{told}, τ {', '.join(changes)}." if changes else f"{told}.")
    return lines
