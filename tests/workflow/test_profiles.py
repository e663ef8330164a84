"""The profiles of clusters: a derived rule gets the settings of its base rule, and both profiles agree."""

import re
from typing import Any

import pytest
import yaml

from tests.workflow.running import REPOSITORY

CLUSTERS = ("slurm", "cluster-generic")
RULES = "\n".join(path.read_text("utf-8") for path in (REPOSITORY / "rules").rglob("*.smk"))


def listed(profile: str, key: str) -> Any:
    """Return the values that a profile sets for a key; for most keys, by rule."""
    text = (REPOSITORY / f"profiles/{profile}/config.yaml").read_text("utf-8")
    return yaml.safe_load(text)[key]


@pytest.mark.parametrize("profile", CLUSTERS)
@pytest.mark.parametrize("key", ["set-resources", "set-threads"])
def test_derived_rules_are_listed_beside_what_they_are_made_of(profile, key):
    """Snakemake does not pass a profile's settings on to a rule made by `use rule`."""
    derived = re.findall(r"^ *use rule (\w+) as (\w+)", RULES, re.MULTILINE)
    rules = listed(profile, key)
    assert derived
    assert not [name for parent, name in derived if parent in rules and name not in rules]


@pytest.mark.parametrize("profile", CLUSTERS)
def test_only_rules_that_exist_are_listed(profile):
    known = {*re.findall(r"^ *(?:use rule \w+ as|rule) (\w+)", RULES, re.MULTILINE)}
    assert {*listed(profile, "set-resources"), *listed(profile, "set-threads")} <= known


def test_both_profiles_give_the_same_rules_the_same_time():
    runtimes = [
        {name: values.get("runtime") for name, values in listed(profile, "set-resources").items()}
        for profile in CLUSTERS
    ]
    assert runtimes[0] == runtimes[1]
    assert listed("slurm", "set-threads") == listed("cluster-generic", "set-threads")


@pytest.mark.parametrize("profile", [*CLUSTERS, "local", "default"])
def test_the_age_of_scripts_reruns_nothing(profile):
    """Snakemake's trigger `code` compares file times of scripts; rules have a fingerprint as a parameter instead."""
    assert listed(profile, "rerun-triggers") == ["mtime", "params", "input", "software-env"]
