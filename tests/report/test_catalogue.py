"""The catalogue: all tables, figures and pages can be made, and are shown if their measurements exist."""

import pytest

from tests.report.generation_results import generation_results
from tests.workflow.running import REPOSITORY
from weebill.report import catalogue
from weebill.report.registry import READERS
from weebill.report.results import Results

KINDS = pytest.mark.parametrize("kind", READERS)
EVERYTHING = [*Results.__dataclass_fields__]


def entries(kind: str) -> list[catalogue.Item]:
    """Return all tables and figures of a kind of experiment, shown or not."""
    groups = [catalogue.all_items(group, kind) for group in ("tables", "figures")]
    return [item for rules in groups for items in rules.values() for item in items]


@KINDS
def test_each_can_be_made_and_has_a_caption_and_measurements_of_its_kind(kind):
    makers = catalogue.makers("tables", kind) | catalogue.makers("figures", kind)
    for item in entries(kind):
        assert callable(makers[item.file])
        assert (REPOSITORY / f"report/{item.caption}.rst").is_file(), item
        assert {*item.needs, *item.uses} <= READERS[kind].keys(), item


@KINDS
def test_no_two_rules_and_no_two_files_share_a_name(kind):
    groups = [catalogue.all_items(group, kind) for group in ("tables", "figures")]
    rules = [rule for group in groups for rule in group]
    assert len({*rules}) == len(rules)
    for group in groups:
        files = [item.file for items in group.values() for item in items]
        assert len({*files}) == len(files)


def test_what_was_not_measured_is_not_shown():
    config = {"kind": "translation"}
    few = ["qualities", "sizes", "speeds", "latencies", "students"]
    tables = catalogue.shown("tables", config, few)
    assert {*tables} == {"tables", "speed_tables"}
    assert not [item for items in tables.values() for item in items if "pruning" in item.file]
    assert {*catalogue.shown("figures", config, few)} == {"figures", "speed_figures"}
    [summary] = catalogue.pages(config, few)
    assert summary.file == "summary" and "speed/gpu_speed" not in summary.pictures
    [on_gpu] = catalogue.pages(config, [*few, "gpu_speeds"])
    assert [*on_gpu.pictures] == [*summary.pictures, "speed/gpu_speed"]
    assert [page.file for page in catalogue.pages(config, EVERYTHING)] == ["summary", "pruning"]
    files = [item.file for item in catalogue.shown("tables", config, EVERYTHING)["tables"]]
    assert "seeds" in files and "seeds" not in [item.file for item in tables["tables"]]


def test_pages_show_figures_that_are_made_and_read_what_is_measured():
    config = {"kind": "translation"}
    made = {
        item.file
        for items in catalogue.shown("figures", config, EVERYTHING).values()
        for item in items
    }
    for page in catalogue.pages(config, EVERYTHING):
        assert page.pictures.keys() <= made
        assert callable(catalogue.maker("pages", page.make))
        read = catalogue.inputs([page], ["sizes", "gpu_speeds", "pairs"])
        assert "sizes" in read and "pairs" not in read


def test_tables_of_a_task_are_shown_where_a_model_does_it():
    config = generation_results().config
    alone = {**config, "pipelines": [one for one in config["pipelines"] if one["model"] == "gpt2"]}
    both, one = (
        {item.file for item in catalogue.shown("tables", chosen, EVERYTHING)["generation_tables"]}
        for chosen in (config, alone)
    )
    assert {"generation_summarization", "textgen_table1", "textgen_table2"} <= both
    tables = {f"textgen_table{n}" for n in (2, 4, 7)}
    ours = {"generation_language_modelling", "generation_controls_language_modelling"}
    assert one == {*ours, "claims_textgen", *tables}
