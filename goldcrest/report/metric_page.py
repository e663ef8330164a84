"""One page of Markdown with all results of a metric experiment, generated from its measurements."""

from collections.abc import Mapping, Sequence

from goldcrest.configuration.metric import REFERENCE
from goldcrest.report.experiment_page import section
from goldcrest.report.metric_results import MetricResults
from goldcrest.report.metric_tables import (
    agreement_table,
    claims_table,
    paper_table,
)
from goldcrest.report.rendering import to_markdown
from goldcrest.report.table import Table, fixed


def metric_page(results: MetricResults, run_time: Table, figures: Mapping[str, str]) -> str:
    """The page; figures: heading → link of a picture."""
    config = results.config
    tables = [agreement_table(results), *(paper_table(results, number) for number in (1, 2))]
    tables += [claims_table(results), run_time]
    return "\n".join(
        [
            f"# Results of the experiment {config['experiment']}\n\n"
            f"Metrics of translation, seed {config['seed']}. This page was written by the workflow from its "
            "measurements (rule `metric_page`).\n",
            section("In short", "\n".join(f"- {line}" for line in in_short(results))),
            *(section(table.title, to_markdown(table)) for table in tables),
            *(section(heading, f"![{heading}]({link})") for heading, link in figures.items()),
            section("What it ran on", "\n".join(_environment(results))),
        ]
    )


def in_short(results: MetricResults) -> list[str]:
    """What is lost and gained by each metric that is made of the reference, as sentences."""
    lines = []
    whole = results.size(REFERENCE)
    for name in results.config["test_sets"]:
        agreements = [results.agreement(metric, name) for metric in results.metrics]
        shown = [f"{one.metric} {fixed(one.tau, 3)}" for one in agreements if one]
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
            f"{one.difference:+.3f} on {name}".replace("-", "−")
            for name in results.config["test_sets"]
            if (one := results.agreement(metric, name)) and one.difference is not None
        ]
        share = 1 - size.parameters / whole.parameters
        lines.append(
            f"`{metric}`: {share:.0%} fewer parameters than the reference, τ {', '.join(changes)}."
        )
    return lines


def _environment(results: MetricResults) -> Sequence[str]:
    versions = sorted({tuple(sorted(one.versions.items())) for one in results.agreements})
    lines = ["Software: " + ", ".join(f"{n} {v}" for n, v in row) + "." for row in versions]
    lines += [
        f"Times: {hardware}." for hardware in sorted({one.hardware for one in results.speeds})
    ]
    lines += ["", "SHA-256 of each model's file:", ""]
    return [*lines, *(f"- `{one.metric}`: `{one.model_sha256}`" for one in results.sizes)]
