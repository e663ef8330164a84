"""Markdown page on the worth of pruning in an experiment, generated from its measurements."""

from collections.abc import Mapping
from typing import Any

from weebill.experiment.student_names import repeats
from weebill.report.pages.page import listed, section
from weebill.report.pages.translation import environment
from weebill.report.rendering import to_markdown
from weebill.report.results import Results
from weebill.report.table import Table
from weebill.report.tables.beside_papers.registry import paper_tables
from weebill.report.tables.pruning import findings, pruned_speed_table, recipes_table, worth_table
from weebill.report.tables.seeds import seeds_findings, seeds_table

PAPERS = ("wngt20_table2", "wmt21_table2")


def pruning_page(results: Results, run_time: Table, figures: Mapping[str, str]) -> str:
    """Write the page as Markdown; results need the complete configuration.  figures: heading → link of a picture."""
    told = [*findings(results), *seeds_findings(results)]
    builders = [worth_table, *([seeds_table] if results.seeds else []), pruned_speed_table]
    papers = [table for table in paper_tables("translation") if table.name in PAPERS]
    last = [*(table.build(results) for table in papers), recipes_table(results.config["pruning"])]
    return "\n".join(
        [
            _introduction(results.config),
            section("In short", "\n".join(f"- {line}" for line in told)),
            *(section(one.title, to_markdown(one)) for one in (make(results) for make in builders)),
            *(section(heading, f"![{heading}]({link})") for heading, link in figures.items()),
            *(section(table.title, to_markdown(table)) for table in [*last, run_time]),
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
