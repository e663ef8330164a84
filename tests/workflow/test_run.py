"""The tiny experiment run to its end: complete, idempotent, and equal after a kill -9."""

import random
import time

import pytest

from tests.workflow.kill import differences, interrupted_run
from tests.workflow.running import TINY, fingerprints, snakemake


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """(folder, seconds) of a finished run of the tiny experiment."""
    folder = tmp_path_factory.mktemp("undisturbed")
    started = time.monotonic()
    run = snakemake(folder, TINY, "--cores", "2")
    assert run.returncode == 0, run.stdout
    return folder, time.monotonic() - started


def test_everything_is_there(undisturbed):
    results = undisturbed[0] / "results/tiny"
    assert (results / "report.html").stat().st_size > 1_000_000
    tables = [path for path in (results / "tables").rglob("*") if path.is_file()]
    assert {path.suffix for path in tables} >= {".csv", ".md", ".tex"}
    assert all(path.stat().st_size for path in tables)
    unpruned = ["float32", "int8", "int8-finetuned", "log4", "log4-finetuned"]
    variants = [*(f"unpruned/{precision}" for precision in unpruned), "steady-i2/log4"]
    for variant in variants:
        files = {path.name for path in (results / "models/demo.micro" / variant).iterdir()}
        assert files >= {"config.json", "model.safetensors", "vocab.spm"}
    assert not list(results.rglob("*.work")), "work folders go when their output is finished"
    assert not list(results.rglob("*.partial*"))


def test_second_run_does_nothing(undisturbed):
    run = snakemake(undisturbed[0], TINY, "--cores", "2")
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout


def test_killed_run_ends_the_same(undisturbed, tmp_path):
    folder, seconds = undisturbed
    moments = sorted(random.Random().uniform(0.1, 0.9) * seconds for _ in range(2))
    run = interrupted_run(tmp_path, TINY, 2, [moments[0], moments[1] - moments[0]])
    assert run.returncode == 0, run.stdout
    expected = fingerprints(folder / "results/tiny")
    assert expected
    assert differences(expected, fingerprints(tmp_path / "results/tiny")) == []
