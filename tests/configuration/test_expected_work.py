"""The display gets all work of an estimate, for rules that exist."""

import re

import pytest

from tests.workflow.running import REPOSITORY
from weebill.configuration import expected_work as module
from weebill.configuration.checking import check, estimate
from weebill.configuration.expected_work import ENCODER, GENERATOR, OTHERS, STAGES, expected_work
from weebill.yaml_files import read_yaml


def test_the_rules_exist():
    text = "\n".join(path.read_text("utf-8") for path in (REPOSITORY / "rules").rglob("*.smk"))
    known = {*re.findall(r"^ *(?:use rule \w+ as|rule) (\w+)", text, re.MULTILINE)}
    assert {*ENCODER, *GENERATOR, *sum([*STAGES.values(), *OTHERS.values()], ())} <= known


@pytest.mark.parametrize("name", ["demo", "metric-small", "generation-small"])
def test_all_hours_are_given_to_rules(name):
    path = REPOSITORY / f"config/{name}.yaml"
    config = check(read_yaml(path), str(path))
    cost = estimate(config)
    work = expected_work(config, cost)
    others = [hours for name, hours in cost.other_hours.items() if not name.startswith("starts")]
    assert sum(work.values()) == pytest.approx(3600 * sum([*cost.hours.values(), *others]))


def test_the_display_is_told(monkeypatch):
    told = []
    monkeypatch.setattr(module, "expect", lambda work, chain: told.append(chain))
    path = REPOSITORY / "config/demo.yaml"
    config = check(read_yaml(path), str(path))
    cost = module.tell_display(config, estimate(config))
    assert told == [3600 * cost.chain]
