"""Stages of an experiment: every rule belongs to one stage, except the report's rules, which belong to none."""

import re

import pytest

from tests.workflow.running import REPOSITORY
from weebill.report.stages import STAGES, stages_of


@pytest.mark.parametrize("kind", STAGES)
def test_every_file_with_rules_belongs_to_one_stage(kind):
    files = [file for files in STAGES[kind].values() for file in files]
    texts = {path.stem: path.read_text() for path in (REPOSITORY / "rules" / kind).glob("*.smk")}
    with_rules = [name for name, text in texts.items() if re.search(r"(?m)^ *(use )?rule ", text)]
    assert sorted(files) == sorted([*with_rules, "origins"])


def test_only_stages_with_rules_are_told_in_their_order():
    rules = {
        "evaluate": ["measure_metric"],
        "robustness": ["damage"],
        "encoder": ["fetch", "train"],
    }
    assert stages_of("metric", {**rules, "reference": []}) == [
        ("Encoders", ["fetch", "train"]),
        ("Agreement", ["measure_metric", "damage"]),
    ]
