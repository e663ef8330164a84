"""Text of the vocabulary in the workflow, read from its rules; no job runs."""

import pytest
import yaml

from tests.workflow.running import TINY, read_workflow

PARALLEL, ENGLISH = "results/tiny/corpora/tatoeba/cleaned", "results/tiny/corpora/english/cleaned"


def corpora(workflow):
    return [str(table) for table in workflow.get_rule("train_vocabulary").input.corpora]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, [PARALLEL]), ({"text": "parallel"}, [PARALLEL]), ({"text": "all"}, [ENGLISH, PARALLEL])],
)
def test_a_vocabulary_is_drawn_from_the_parallel_text_or_from_all(tmp_path, settings, expected):
    """Text of one side, of which there may be far more, would give most pieces to its language."""
    config = yaml.safe_load(TINY.read_text())
    assert {name: one.get("use") for name, one in config["corpora"].items()} == {
        "tatoeba": None,
        "english": "monolingual",
    }
    config["vocabulary"] |= settings
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    assert read_workflow(tmp_path, tmp_path / "config.yaml", corpora) == expected
