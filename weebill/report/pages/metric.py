"""Markdown page with all results of a metric experiment, generated from its measurements."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from weebill.experiment.metrics import REFERENCE
from weebill.report.costs import Job
from weebill.report.front import metric as front
from weebill.report.pages.page import bullets, introduction, pictures, results_page
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
        ahead.verdict,
        [ahead.table, *first],
        [
            ("Every metric in a sentence", bullets(in_short(results))),
            ("What the metrics learn from", bullets(learnt_from(results.config))),
            *tables,
            cometinho_claims(results),
            *rest,
            run_time_table(jobs),
        ],
        {one.metric: one.model_sha256 for one in results.sizes},
    )


def learnt_from(config: Mapping[str, Any]) -> list[str]:
    """Return sentences on the texts, the judgements and the translations from which the metrics are made."""
    lines = []
    made = [name for name, one in config["encoders"].items() if one.get("by") == "pretraining"]
    if made and config.get("texts"):
        texts = ", ".join(map(_named, config["texts"]))
        lines.append(f"Text without judgements, for the encoders ({', '.join(made)}): {texts}.")
    if tables := config.get("reference", {}).get("judgements"):
        named = ", ".join(f"{one['score']} of {_named(one['table'])}" for one in tables)
        lines.append(f"People's judgements, for the reference: {named}.")
    for pairs, one in config.get("distillation", {}).get("pairs", {}).items():
        how = ", ".join(
            f"{name} ({_translator(made)})" for name, made in one["translations"].items()
        )
        rows = f"{one['rows']:,} rows of " if "rows" in one else ""
        text = _named(one["table"] if "table" in one else one["source"])
        lines.append(
            f"Translations that the reference scores, for the small metric, {pairs}: {rows}{text}, translated by "
            f"{how}; no people made or judged them."
        )
    sets = ", ".join(
        f"{name} ({_named(one['table'])})" for name, one in config["test_sets"].items()
    )
    return [*lines, f"Judgements for the measurement: {sets}."]


def _named(place: Any) -> str:
    """Name a text of the configuration: its path, or the address or data set that it is from."""
    return f"`{place}`" if isinstance(place, str) else f"`{json.dumps(place)}`"


def _translator(how: Mapping[str, Any]) -> str:
    if how["by"] == "training":
        updates = how.get("training", {}).get("updates")
        trained = f" by {updates:,} updates" if updates else ""
        return f"{how['architecture']}, trained here{trained}"
    return " and ".join(map(_named, how["models"]))


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
