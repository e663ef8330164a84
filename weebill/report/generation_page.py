"""One page of Markdown with all results of a generation experiment, generated from its measurements."""

from collections.abc import Mapping

from weebill.report.generation_results import GenerationResults
from weebill.report.generation_tables import PAPER_TABLES, SCORES, paper_table, variants_table
from weebill.report.results_page import environment_lines, results_page
from weebill.report.table import Table, fixed

# By task the metrics, of which the first that compares with the baseline's is told.
FIRST = {"summarization": ["ROUGE-L"], "language-modelling": ["perplexity", "bits per byte"]}


def tables_of(results: GenerationResults) -> list[Table]:
    """All tables: of the variants for each task that there is, and the paper's."""
    tasks = [task for task in SCORES if results.variants_for(task)]
    return [
        *(variants_table(results, task) for task in tasks),
        *(
            paper_table(results, number)
            for number, (task, _) in PAPER_TABLES.items()
            if task in tasks
        ),
    ]


def generation_page(results: GenerationResults, run_time: Table, figures: Mapping[str, str]) -> str:
    """The page; figures: heading → link of a picture."""
    return results_page(
        results.config,
        "Models that generate text",
        "generation_page",
        in_short(results),
        [*tables_of(results), run_time],
        figures,
        environment_lines(
            [one.versions for one in results.qualities],
            [one.hardware for one in results.speeds],
            {one.variant: one.model_sha256 for one in results.sizes},
        ),
    )


def in_short(results: GenerationResults) -> list[str]:
    """What each variant kept of its model's first one, as sentences."""
    lines = []
    for task, metrics in FIRST.items():
        for variant in results.variants_for(task):
            base = results.baseline(variant)
            metric = next(name for name in metrics if results.comparable(variant, name))
            one, other = (results.quality(name, metric) for name in (variant, base))
            if variant == base or one is None or other is None or not other.score:
                continue
            told = [f"{metric} {fixed(one.score / other.score, 3)} × `{base}`'s"]
            sizes = [results.size(name) for name in (variant, base)]
            speeds = [results.speed(name) for name in (variant, base)]
            if all(sizes):
                told.append(
                    f"{fixed(sizes[0].parameter_bytes / sizes[1].parameter_bytes, 3)} × its bytes"
                )
            if all(speeds):
                faster = speeds[1].seconds_per_example / speeds[0].seconds_per_example
                told.append(f"{fixed(faster, 2)} × as fast")
            lines.append(f"`{variant}`: {', '.join(told)}.")
    return lines
