"""`goldcrest benchmark metric`: that it measures, and that both sides score alike, on a tiny model."""

import json
import logging

import pytest

from goldcrest.__main__ import main
from goldcrest.commands.benchmarks.metric import NAME, paper_speeds
from tests.metric.comet_environment import COMET


def test_figures(news, capsys):
    if not COMET.is_file():
        pytest.skip(
            f"unbabel-comet's environment is not here; envs/install.sh comet {COMET.parents[1]}"
        )
    options = ["--rounds", "2", "--shape", "tiny", "--systems", "2", "--news", str(news)]
    assert main(["benchmark", "metric", *options, "--comet", str(COMET), "--json"]) == 0
    exact, rounded, integers, *others = json.loads(capsys.readouterr().out)
    assert "2 systems, float32, against unbabel-comet's predict" in exact["claim"]
    assert float(exact["claim"].split("at most ")[1].split()[0]) < 1e-5
    assert "the ranking is the same" in exact["claim"]
    assert "bfloat16" in rounded["claim"] and "int8" in integers["claim"]
    assert len(others) == 3 + 6  # with the cache; pruned and distilled
    assert all(row["ours"] > 0 and row["other"] > 0 for row in [exact, rounded, integers, *others])


def test_what_is_not_there(news, tmp_path, capsys, caplog):
    caplog.set_level(logging.CRITICAL)
    command = ["benchmark", "metric", "--shape", "tiny"]
    assert main([*command, "--news", str(tmp_path / "none")]) == 1
    assert f"no {NAME}.hyp.SYSTEM.de.gz" in capsys.readouterr().err
    none = str(tmp_path / "none/bin/python")
    assert main([*command, "--news", str(news), "--comet", none]) == 1
    assert "make its environment by `envs/install.sh comet" in capsys.readouterr().err


def test_the_papers_speeds():
    """COMETINHO prints 31.32 seconds for COMET, 19.74 and 14.72 for the smaller metrics."""
    assert paper_speeds() == pytest.approx({"PRUNE": 31.32 / 19.74, "DISTIL": 31.32 / 14.72}, 1e-3)
