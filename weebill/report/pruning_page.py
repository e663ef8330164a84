"""One page of Markdown on what pruning is worth in an experiment, generated from its measurements."""

from collections.abc import Mapping, Sequence
from typing import Any

from weebill.evaluation.quality.seeds import SeedsComparison
from weebill.experiment.student_names import repeats
from weebill.report.experiment_page import environment, listed, section
from weebill.report.paper_tables import TABLES, build
from weebill.report.pruning import findings, pruned_speed_table, recipes_table, worth_table
from weebill.report.rendering import to_markdown
from weebill.report.results import Results
from weebill.report.seeds import seeds_findings, seeds_table
from weebill.report.table import Table

FIGURES = {  # file -> heading
    "quality_by_heads": "Quality by encoder heads removed",
    "quality_by_neurons": "Quality by feed-forward neurons removed",
    "quality_by_speed": "Quality by speed",
    "head_maps": "Which heads went when",
}
PAPERS = ("wngt20_table2", "wmt21_table2")


def pruning_page(
    results: Results,
    run_time: Table,
    config: Mapping[str, Any],
    figures: Mapping[str, str],
    seeds: Sequence[SeedsComparison] = (),
) -> str:
    """The page.

    config: the complete configuration; figures: heading → link of a picture; seeds: comparisons over several.
    """
    told = [*findings(results), *seeds_findings(seeds)]
    tables = [worth_table(results), pruned_speed_table(results)]
    if seeds:
        tables.insert(1, seeds_table(seeds))
    papers = []
    for definition in TABLES:
        if definition.name in PAPERS:
            papers += [build(definition, results), build(definition, results, speed=True)]
    return "\n".join(
        [
            _introduction(config),
            section("In short", "\n".join(f"- {line}" for line in told)),
            *(section(table.title, to_markdown(table)) for table in tables),
            *(section(heading, f"![{heading}]({link})") for heading, link in figures.items()),
            *(
                section(table.title, to_markdown(table))
                for table in [*papers, recipes_table(config["pruning"]), run_time]
            ),
            section("What it ran on", environment(results)),
        ]
    )


def _introduction(config: Mapping[str, Any]) -> str:
    languages = config["languages"]
    students = [name for name in config["students"] if not repeats(name)]
    return (
        f"# Pruning: results of the experiment {config['experiment']}\n\n"
        f"{languages['source']} to {languages['target']}, seed {config['seed']}. Corpora: "
        f"{listed(config['corpora'])}; test sets: {listed(config['test_sets'])}; students: "
        f"{listed(students)}, each of {config['training']['updates']:,} updates, the pruned ones' counted "
        "from the start of the unpruned one's.\n\n"
        "This page was written by the workflow from its measurements (rule `pruning_page`). Data, "
        "languages and machine are not the papers', so compare the differences in brackets, not the "
        "numbers.\n"
    )
