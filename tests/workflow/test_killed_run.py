"""A run that is killed twice with SIGKILL and then finishes makes the files of an undisturbed run."""

import random
import time

import pytest
import yaml

from tests.workflow.interruptions import differences, interrupted_run
from tests.workflow.running import TINY, TRANSLATION, fingerprints, snakemake

# These rules write whole files or nothing, as `make check-resume` shows.
MEASURING = ["measure_student", "measure_speed", "measure_shortlist"]


@pytest.mark.workflows
def test_it_ends_the_same(tmp_path):
    """Text, models and translations are equal; the run has one job of each long kind."""
    config = yaml.safe_load(TINY.read_text())
    config["pruning"] = {"steady-i2": config["pruning"]["steady-i2"]}
    config["quantization"] = {"log4": {**config["quantization"]["log4"], "compare_biases": True}}
    config["variants"] = ["demo.micro/unpruned/log4-*", "demo.micro/steady-i2/log4"]
    (tmp_path / "killed.yaml").write_text(yaml.safe_dump(config))
    command = [tmp_path / "killed.yaml", "--cores", "2", "--omit-from", *MEASURING]
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    undisturbed.mkdir(), killed.mkdir()

    started = time.monotonic()
    run = snakemake(undisturbed, *command, imported=TRANSLATION)
    seconds = time.monotonic() - started
    assert run.returncode == 0, run.stdout

    moments = sorted(random.Random().uniform(0.1, 0.8) * seconds for _ in range(2))
    kills = [(delay, "SIGKILL to all") for delay in (moments[0], moments[1] - moments[0])]
    run, _ = interrupted_run(killed, command[0], kills, *command[1:])
    assert run.returncode == 0, run.stdout
    expected = fingerprints(undisturbed / "results/tiny")
    assert {name.split("/")[0] for name in expected} >= {"corpora", "models", "teacher", "exports"}
    assert any(name.startswith("models/demo.micro/unpruned/log4-biases/") for name in expected)
    assert differences(expected, fingerprints(killed / "results/tiny")) == []
