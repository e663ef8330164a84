"""`weebill benchmark metric` with a tiny model: speeds are measured, and both engines give the same scores."""

import json
import logging

import pytest

from tests.metric.comet_environment import COMET, need_comet
from tests.metric.small import make_checkpoint, make_encoder
from weebill.__main__ import main
from weebill.benchmarks.metric import NAME, paper_speeds
from weebill.metric.folder import load_metric, save_metric


def test_figures(news, capsys):
    need_comet()
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
    command = ["benchmark", "metric", "--shape", "tiny", "--systems", "2"]
    assert main([*command, "--news", str(tmp_path / "none")]) == 1
    assert f"no {NAME}.hyp.SYSTEM.de;" in capsys.readouterr().err
    none = str(tmp_path / "none/bin/python")
    assert main([*command, "--news", str(news), "--comet", none]) == 1
    assert "make its environment by `envs/install.sh comet" in capsys.readouterr().err


def test_more_systems_than_there_are(news, capsys, caplog):
    caplog.set_level(logging.CRITICAL)
    assert main(["benchmark", "metric", "--systems", "9", "--news", str(news)]) == 1
    assert "--systems 9: " in capsys.readouterr().err


def test_a_metric_folder_is_nothing_for_unbabel_comet(news, tmp_path, capsys, caplog):
    caplog.set_level(logging.CRITICAL)
    made = load_metric(make_checkpoint(tmp_path / "checkpoint", make_encoder(tmp_path / "encoder")))
    save_metric(tmp_path / "metric", made, {})
    options = ["--model", str(tmp_path / "metric"), "--systems", "1"]
    assert main(["benchmark", "metric", "--news", str(news), *options]) == 1
    assert "a metric folder, which unbabel-comet does not read" in capsys.readouterr().err


def test_the_papers_speeds():
    """COMETINHO prints 31.32 seconds for COMET, and 19.74 and 14.72 for the smaller metrics."""
    assert paper_speeds() == pytest.approx({"PRUNE": 31.32 / 19.74, "DISTIL": 31.32 / 14.72}, 1e-3)
