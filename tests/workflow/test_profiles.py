"""The profiles of clusters: a derived rule gets the settings of its base rule, and both profiles agree."""

import re
from typing import Any

import pytest
import yaml

from tests.workflow.running import REPOSITORY
from weebill.configuration.cost import SIDE_BYTES
from weebill.configuration.sections.scoring import LanguageModel, LexicalTranslation
from weebill.settings import defaults

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


def minutes(profile: str, rule: str) -> int:
    """Return the minutes that the first attempt of a rule's job gets."""
    asked = listed(profile, "set-resources").get(rule, {}).get("runtime")
    asked = asked or listed(profile, "default-resources")["runtime"]
    return int(asked.removeprefix("attempt * "))


@pytest.mark.parametrize("profile", CLUSTERS)
def test_models_of_the_default_text_are_made_in_one_attempt(profile):
    """They do not continue after a kill.  lmplz takes 640,000 bytes a second, measured on two busy cores, and less if
    it sorts on disk; eflomal takes ten minutes for a million pairs."""
    text = defaults(LanguageModel)["sentences"] * SIDE_BYTES
    assert minutes(profile, "language_model") > 3 * text / 640_000 / 60
    pairs = defaults(LexicalTranslation)["pairs"]
    assert minutes(profile, "lexical_translation") > 3 * 10 * pairs / 1_000_000


@pytest.mark.parametrize("profile", CLUSTERS)
def test_scores_of_a_whole_text_get_more_time_than_most_jobs(profile):
    text = "".join(p.read_text("utf-8") for p in (REPOSITORY / "rules/translation").glob("*.smk"))
    # The score `bicleaner` only joins the classifier's parts to a table.
    rows = {*re.findall(r"rule (?:\w+ as )?(score_(?:by_\w+|combined))", text)}
    rows = {*rows, "classify_by_bicleaner"} - {"score_by_bicleaner"}
    assert rows > {"score_by_language_model", "score_by_lexical_translation"}
    assert {rule: minutes(profile, rule) for rule in rows} == dict.fromkeys(rows, 1440)


@pytest.mark.parametrize("profile", [*CLUSTERS, "local", "default"])
def test_the_age_of_scripts_reruns_nothing(profile):
    """Snakemake's trigger `code` compares file times of scripts; rules have a fingerprint as a parameter instead."""
    assert listed(profile, "rerun-triggers") == ["mtime", "params", "input", "software-env"]
