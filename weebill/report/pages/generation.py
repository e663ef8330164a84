"""Markdown page with all results of a generation experiment, generated from its measurements."""

from collections.abc import Mapping, Sequence

from weebill.experiment import pipelines
from weebill.report import noise
from weebill.report.costs import Job
from weebill.report.front import generation as front
from weebill.report.lookups import generation as lookup
from weebill.report.pages.page import bullets, introduction, pictures, results_page
from weebill.report.results import Results
from weebill.report.table import Table, fixed
from weebill.report.tables.beside_papers.comparison import paper_tables
from weebill.report.tables.claims.generation import textgen_claims
from weebill.report.tables.generation import SCORES, variants_table
from weebill.report.tables.generation_controls import controls_table
from weebill.report.tables.run_time import run_time_table


def tables_of(results: Results) -> list[Table]:
    """Return all tables: the variants of each task that has any, the paper's tables, and its claims."""
    tasks = [task for task in SCORES if lookup.variants_for(results.config, task)]
    papers = [table for table in paper_tables("generation") if table.shown(results.config)]
    ours = [variants_table(results, task) for task in tasks]
    ours += [
        controls_table(results, task) for task in tasks if lookup.controls(results.config, task)
    ]
    return [*ours, *(table.build(results) for table in papers), textgen_claims(results)]


def generation_page(results: Results, jobs: Sequence[Job], figures: Mapping[str, str]) -> str:
    """Write the page as Markdown; figures: heading → picture."""
    ahead = front.front(results, jobs, [])
    first, rest = pictures(figures)
    return results_page(
        results,
        introduction(results.config, "Models that generate text"),
        [*ahead.verdict, *noise.summary(results.speeds, "times")],
        [ahead.table, *first],
        [
            ("Every variant in a sentence", bullets(in_short(results))),
            *tables_of(results),
            *rest,
            run_time_table(jobs),
        ],
        {one.variant: one.model_sha256 for one in results.sizes},
    )


def in_short(results: Results) -> list[str]:
    """Return a sentence for each variant: quality, size and speed relative to its model's first variant.

    Quality is also given relative to its control, which was trained for the same time.
    """
    lines = []
    for task in lookup.METRICS:
        for variant in lookup.variants_for(results.config, task):
            base = lookup.baseline(results, variant)
            metric = lookup.metric_of(results, task, [variant])
            one, other = (lookup.quality(results, name, metric) for name in (variant, base))
            if variant == base or one is None or other is None or not other.score:
                continue
            told = [f"{metric} {fixed(one.score / other.score, 3)} × `{base}`'s"]
            control = pipelines.control_of(results.config, variant)
            same = lookup.quality(results, control, metric) if control else None
            if same and same.score:
                told.append(f"{fixed(one.score / same.score, 3)} × its control `{control}`'s")
            size, base_size = (results.size(name) for name in (variant, base))
            if size and base_size:
                told.append(
                    f"{fixed(size.parameter_bytes / base_size.parameter_bytes, 3)} × its bytes"
                )
            speed, base_speed = (lookup.speed(results, name) for name in (variant, base))
            if speed and base_speed:
                faster = base_speed.seconds_per_example / speed.seconds_per_example
                told.append(f"{fixed(faster, 2)} × as fast")
            lines.append(f"`{variant}`: {', '.join(told)}.")
    return lines
