"""Memory that the largest jobs will ask for, by hand, and against the rules."""

import re

import pytest

from tests.configuration.test_estimates import of_paper
from tests.workflow.running import REPOSITORY
from weebill.configuration.checking import check, estimate
from weebill.configuration.resources import GENERATION_JOB_MIB, METRIC_JOB_MIB
from weebill.files import MIB


@pytest.fixture
def estimated(experiment, zoo):
    """Return a function that estimates the small experiment after changes, with a large vocabulary."""

    def make(**changes):
        changes = {"vocabulary": {"size": 65_536}, **changes}
        return estimate(check(experiment(changes), "trial.yaml", zoo), zoo)

    return make


def test_all_members_of_an_ensemble_are_in_memory_together(estimated):
    """They have 1, 2 and 3 decoder layers; a job holds the weights twice, and once more for each thread."""
    layer = 4 * 8 * 8 + 2 * 8 * 16
    member = 65_536 * 8 + 2 * layer
    weights = 3 * member + (1 + 2 + 3) * (layer + 2 * 8 * 8)
    trio = {"architecture": "trio", "members": 3}
    one, four = (estimated(teacher=trio, hardware={"threads": count}) for count in (1, 4))
    mib = 4 * weights / MIB
    assert one.memory["translate_shard"] == int(2000 + 3 * mib) == one.each_core
    assert four.memory["translate_shard"] == int(2000 + 6 * mib)
    alone = estimated(teacher={"architecture": "big"})
    two_more = one.memory["translate_shard"] - alone.memory["translate_shard"]
    assert two_more == pytest.approx(2 * 3 * 2, abs=1)  # a member has 2 MiB
    told = "memory: at most about 2.0 GiB in one job (translate_shard); measure_speed takes 2.0 GiB"
    assert told in one.lines("x", 0)[2]


def test_the_papers_ensemble():
    """Four teachers of 350 million weights in layers and output, and 33 million in embeddings, held three times."""
    found = of_paper("wngt20.yaml")
    assert found.each_core == pytest.approx(2000 + 3 * 4 * 4 * 383e6 / MIB, rel=0.02)
    assert found.memory["translate_shard"] == found.each_core
    # Rows of 130 bytes a side; a table has 0.4 of the text, and an encoded text three times as much.
    assert found.memory["train_student"] > 3 * 0.4 * 2 * 130 * 2.4e8 / MIB


def test_jobs_that_an_experiment_lacks_are_left_out(estimated):
    assert "back_translate_shard" not in estimated().memory
    assert "language_model" not in estimated().memory
    scored = estimated(cleaning={"scores": {"language_model_source": {}}})
    assert scored.memory["language_model"] >= 2000


@pytest.mark.parametrize("name", ["demo", "noise", "wmt21", "metric-small", "comet", "textgen"])
def test_the_rules_exist(name):
    text = "\n".join(path.read_text("utf-8") for path in (REPOSITORY / "rules").rglob("*.smk"))
    known = {*re.findall(r"^ *(?:use rule \w+ as|rule) (\w+)", text, re.MULTILINE)}
    memory = of_paper(f"{name}.yaml").memory
    assert memory and {*memory} <= known


@pytest.mark.parametrize(
    ("kind", "most"), [("metric", METRIC_JOB_MIB), ("generation", GENERATION_JOB_MIB)]
)
def test_no_rule_asks_for_a_larger_fixed_amount(kind, most):
    files = (REPOSITORY / f"rules/{kind}").glob("*.smk")
    text = "\n".join(path.read_text("utf-8") for path in files)
    assert max(map(int, re.findall(r"growing\(([0-9]+)\)", text))) == most
