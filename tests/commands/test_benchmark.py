"""The benchmark command's frame: rounds in turn, medians, one object a claim."""

import importlib
import json
import sys
import types
from pathlib import Path

import pytest

from weebill.__main__ import main
from weebill.benchmarks import Row
from weebill.commands import benchmark
from weebill.corpus.cleaning.rules import Rules
from weebill.errors import InputError
from weebill.evaluation.measurement import hardware


def test_a_row_compares_round_by_round():
    row = Row.of_rounds("x", [10.0, 30.0, 20.0], [10.0, 10.0, 5.0], "pairs/s", paper=1.5)
    assert (row.ours, row.other, row.ratio) == (20.0, 10.0, 2.0)
    assert (row.lowest, row.highest, row.rounds) == (1.0, 4.0, 3)
    assert "ratio 2.00 (1.00 to 4.00 in 3 rounds; the paper's 1.50)" in str(row)


def test_command(monkeypatch, capsys):
    row = Row.of_rounds("x", [6.0] * 3, [2.0] * 3, "pairs/s")
    asked = []
    module = types.SimpleNamespace(
        run=lambda **options: asked.append(options) or [row], OPPONENTS=("pytest",)
    )
    monkeypatch.setattr(benchmark.importlib, "import_module", lambda name: module)
    arguments = types.SimpleNamespace(name="cleaning", options=["--rounds", "3", "--json"])
    assert benchmark.run(arguments) == 0
    assert asked == [{"rounds": 3}]
    (found,) = json.loads(capsys.readouterr().out)
    versions = found.pop("versions")
    assert {"python", "torch", "weebill"} < versions.keys()
    assert versions["pytest"] == pytest.__version__
    assert found == {
        "hardware": hardware(),
        "claim": "x",
        "ours": 6.0,
        "other": 2.0,
        "ratio": 3.0,
        "lowest": 3.0,
        "highest": 3.0,
        "paper": None,
        "unit": "pairs/s",
        "rounds": 3,
    }
    arguments.options = []
    benchmark.run(arguments)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{hardware()}; python ") and f"pytest {pytest.__version__}" in first
    assert "ratio 3.00" in second


def test_every_name_is_a_benchmark():
    for name in benchmark.names():
        assert hasattr(importlib.import_module(f"weebill.benchmarks.{name}"), "run")


def test_what_was_found_before_a_failure(monkeypatch, capsys):
    def rows(rounds):
        yield Row.of_rounds("x", [6.0], [2.0], "pairs/s")
        raise InputError("the opponent has died")

    module = types.SimpleNamespace(run=rows)
    monkeypatch.setattr(benchmark.importlib, "import_module", lambda name: module)
    arguments = types.SimpleNamespace(name="cleaning", options=["--json"])
    with pytest.raises(InputError):
        benchmark.run(arguments)
    (found,) = json.loads(capsys.readouterr().out + "]")
    assert found["ratio"] == 3.0
    module.run = lambda rounds: []
    benchmark.run(arguments)
    assert json.loads(capsys.readouterr().out) == []


def test_options_of_a_benchmark_of_its_own(monkeypatch, capsys):
    def add_arguments(parser):
        parser.add_argument("--arch")

    asked = []
    run = lambda rounds, arch: asked.append((rounds, arch)) or []  # noqa: E731
    module = types.SimpleNamespace(__doc__="What it is.", add_arguments=add_arguments, run=run)
    monkeypatch.setattr(benchmark.importlib, "import_module", lambda name: module)
    arguments = types.SimpleNamespace(name="cleaning", options=["--arch", "tiny"])
    benchmark.run(arguments)
    assert asked == [(5, "tiny")]


@pytest.mark.parametrize(
    "arguments", [["nothing"], ["cleaning", "--rounds", "0"], ["cleaning", "--arch", "tiny"]]
)
def test_bad_requests(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["benchmark", *arguments])
    assert stop.value.code == 2


def test_benchmark_cleaning_measures_its_claim(monkeypatch):
    from weebill.benchmarks import cleaning

    monkeypatch.setattr(cleaning, "PAIRS", 300)
    monkeypatch.setattr(cleaning, "TATOEBA", ())
    monkeypatch.setattr(cleaning, "LID_176", cleaning.Path("absent"))
    (row,) = list(cleaning.run(1))
    assert row.unit == "pairs/s" and row.ours > 0 and row.other > 0


def test_an_opponent_that_is_not_there(tmp_path):
    from weebill.benchmarks.cleaning import opusfilter

    for python, reason in (
        ("absent", "No such file"),
        (sys.executable, "it cannot run OpusFilter"),
    ):
        with pytest.raises(InputError, match=reason):
            opusfilter.OpusFilterChain(
                Path(python), [("a", "b")], tmp_path, ("en", "de"), Rules(), tmp_path, False
            )
