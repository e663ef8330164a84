"""The benchmark command's frame: rounds in turn, medians, one object a claim."""

import json
import os
import types

import pytest

from goldcrest.__main__ import main
from goldcrest.commands import benchmark
from goldcrest.commands.benchmark import Row, interleave, pinned


def test_rounds_alternate_and_the_first_is_not_counted(monkeypatch):
    calls, clock = [], iter(range(100))
    monkeypatch.setattr(benchmark.time, "perf_counter", lambda: next(clock))
    ours = lambda: calls.append("ours") or 10.0  # noqa: E731
    other = lambda: calls.append("other") or 4.0  # noqa: E731
    assert interleave(ours, other, rounds=3) == (10.0, 4.0)
    assert calls == ["other", "ours", "ours", "other", "other", "ours", "ours", "other"]


def test_pinned_to_one_core_and_back():
    before = os.sched_getaffinity(0)
    with pinned():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_command(monkeypatch, capsys):
    module = types.SimpleNamespace(run=lambda rounds: [Row("x", 6.0, 2.0, "pairs/s", rounds)])
    monkeypatch.setattr(benchmark.importlib, "import_module", lambda name: module)
    arguments = types.SimpleNamespace(name="cleaning", rounds=3, json=True)
    assert benchmark.run(arguments) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows == [
        {"claim": "x", "ours": 6.0, "other": 2.0, "ratio": 3.0, "unit": "pairs/s", "rounds": 3}
    ]
    arguments.json = False
    benchmark.run(arguments)
    assert "ratio 3.00" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["nothing"], ["cleaning", "--rounds", "0"]])
def test_bad_requests(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["benchmark", *arguments])
    assert stop.value.code == 2


def test_benchmark_cleaning_measures_its_claim(monkeypatch):
    from goldcrest.commands.benchmarks import cleaning

    monkeypatch.setattr(cleaning, "PAIRS", 300)
    monkeypatch.setattr(cleaning, "TATOEBA", ())
    monkeypatch.setattr(cleaning, "LID_176", cleaning.Path("absent"))
    (row,) = cleaning.run(1)
    assert row.unit == "pairs/s" and row.ours > 0 and row.other > 0
