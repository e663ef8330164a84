"""All benchmarks in turn: valid options, the commit of a checkout, and hand-computed ratios to published figures."""

import inspect
import subprocess
import types
from dataclasses import asdict
from pathlib import Path

import pytest

from weebill import benchmarks
from weebill.benchmarks import NAMES, Row, survey
from weebill.errors import InputError
from weebill.files import write_json
from weebill.report.rows import code_of_modules


def test_every_module_that_measures_is_named():
    folder = Path(benchmarks.__file__).parent
    files = [*folder.glob("*.py"), *folder.glob("*/__init__.py")]
    measuring = {
        file.parent.name if file.stem == "__init__" else file.stem
        for file in files
        if "\ndef run(" in file.read_text("utf-8")
    }
    assert measuring == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_smallest_run_sets_options_that_there_are(name):
    module = survey.load(name)
    parameters = inspect.signature(module.run).parameters
    assert next(iter(parameters)) == "rounds"
    assert set(getattr(module, "SMALLEST", {})) < set(parameters)


def test_the_commit_is_that_of_the_checkout():
    root = Path(benchmarks.__file__).parents[2]
    try:
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    assert survey.commit() in (head, f"{head}-dirty")


def test_an_opponent_that_is_not_installed(monkeypatch):
    module = types.SimpleNamespace(OPPONENTS=("no-such-package",))
    monkeypatch.setattr(survey.importlib, "import_module", lambda name: module)
    with pytest.raises(InputError, match="search: the opponent no-such-package is not installed"):
        survey.load("search")


def test_what_was_found_is_saved_after_each_benchmark(monkeypatch, capsys):
    def run(rounds):
        return [Row.of_rounds("x", [3.0] * rounds, [2.0] * rounds, "pairs/s", key="short")]

    def fail(rounds):
        raise ZeroDivisionError("nothing")

    modules = {"search": types.SimpleNamespace(run=run, OPPONENTS=("pytest",))}
    modules["mbr"] = types.SimpleNamespace(run=fail)
    monkeypatch.setattr(survey, "load", modules.__getitem__)
    saved = []
    save = lambda one: saved.append(len(one.rows))  # noqa: E731
    found = survey.survey(2, save, names=["mbr", "search"])
    lines = capsys.readouterr().out.splitlines()
    assert saved == [0, 0, 1]
    assert found.failed == {"mbr": "ZeroDivisionError: nothing"}
    assert lines[0] == "mbr: failed: ZeroDivisionError: nothing" and "x: 3 against 2" in lines[1]
    [row] = found.rows
    assert (row["benchmark"], row["key"], row["rounds"]) == ("search", "short", 2)
    assert found.signature["versions"]["pytest"] == pytest.__version__
    assert found.signature["code"] == code_of_modules(search="weebill.benchmarks.search")


@pytest.mark.parametrize(
    ("commit", "rounds", "goes_on"),
    [("abc", 2, True), ("abc-dirty", 2, False), ("abc", 3, False), (None, 2, False)],
)
def test_a_stopped_survey_goes_on_if_the_code_is_the_same(monkeypatch, commit, rounds, goes_on):
    """Hours of other figures are not overwritten."""
    ran = []

    def module(name):
        def run(rounds):
            ran.append(name)
            if name == "mbr" and len(ran) == 2:
                raise ZeroDivisionError("stopped")
            return [Row.of_rounds(name, [3.0] * rounds, [2.0] * rounds, "pairs/s")]

        return types.SimpleNamespace(run=run)

    monkeypatch.setattr(survey, "load", module)
    monkeypatch.setattr(survey, "commit", lambda: commit)
    names = ["search", "mbr"]
    first = survey.survey(2, lambda one: None, names=names)
    assert first.finished == ["search"] and list(first.failed) == ["mbr"]
    if not goes_on:
        with pytest.raises(InputError, match="figures of other or unrecorded code"):
            survey.survey(rounds, pytest.fail, names=names, stopped=first)
        return
    second = survey.survey(rounds, lambda one: None, names=names, stopped=first)
    assert ran[2:] == ["mbr"]
    assert [row["key"] for row in second.rows] == names and not second.failed


def figures(*rows: Row, hardware="this") -> survey.Survey:
    listed = [{"benchmark": "search", "key": row.key, **row.to_dict()} for row in rows]
    return survey.Survey(3, {"hardware": hardware}, listed)


def row(ours, unit="words/s", key="beam 4"):
    return Row.of_rounds("a claim of today", ours, [10.0, 10.0, 10.0], unit, key=key)


def test_ratios_and_the_interval_of_their_change():
    [line] = survey.changes(figures(row([18.0, 20.0, 22.0])), figures(row([8.0, 10.0, 16.0])))
    assert line == (
        "search, beam 4, words/s: ratio 2.00 (1.80 to 2.20), published 1.00 (0.80 to 1.60); "
        "changed by 2.00 (1.12 to 2.75), ours alone by 2.00"
    )


@pytest.mark.parametrize(
    ("now", "unit", "loss"),
    [(9.4, "words/s", True), (9.6, "words/s", False), (10.6, "ms", True), (9.4, "MiB", False)],
)
def test_a_loss_is_named(now, unit, loss):
    [line] = survey.changes(figures(row([now] * 3, unit)), figures(row([10.0] * 3, unit)))
    assert line.endswith("; a loss over 5%") == loss


def test_figures_of_one_side_alone_and_of_other_hardware():
    found = figures(row([10.0] * 3, key="a"), row([10.0] * 3, key="new"))
    published = figures(row([10.0] * 3, key="a"), row([10.0] * 3, key="old"), hardware="that")
    machine, same, new, old = survey.changes(found, published)
    assert "another machine (that)" in machine and "alone" not in same
    assert new.endswith("not published yet") and "search, new" in new
    assert old == "search, old, words/s: published ratio 1.00 (1.00 to 1.00), not measured now"


def test_a_file_is_read_as_it_was_written(tmp_path):
    path, found = tmp_path / "benchmarks.json", figures(row([18.0, 20.0, 22.0]))
    write_json(path, asdict(found))
    assert survey.Survey.read(path) == found
    wrong = asdict(found)
    wrong["rows"][0]["ours"] = "fast"
    for spoilt in ({"rounds": 3, "rows": [{}]}, asdict(found) | {"signature": {}}, [1], wrong):
        write_json(path, spoilt)
        with pytest.raises(InputError, match="holds no figures of benchmarks"):
            survey.Survey.read(path)
