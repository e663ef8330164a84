"""All benchmarks in turn: they declare sound options, and a checkout names its commit."""

import inspect
import subprocess
import types
from pathlib import Path

import pytest

from weebill import benchmarks
from weebill.benchmarks import NAMES, Row, survey
from weebill.errors import InputError


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


def test_what_was_found_is_saved_after_each_benchmark(monkeypatch):
    def run(rounds):
        return [Row.of_rounds("x", [3.0] * rounds, [2.0] * rounds, "pairs/s", key="short")]

    def fail(rounds):
        raise ZeroDivisionError("nothing")

    modules = {"search": types.SimpleNamespace(run=run, OPPONENTS=("pytest",))}
    modules["mbr"] = types.SimpleNamespace(run=fail)
    monkeypatch.setattr(survey, "load", modules.__getitem__)
    lines, saved = [], []
    found = survey.survey(
        2, names=["mbr", "search"], say=lines.append, save=lambda one: saved.append(len(one.rows))
    )
    assert saved == [0, 0, 1]
    assert found.failed == {"mbr": "ZeroDivisionError: nothing"}
    assert lines[0] == "mbr: failed: ZeroDivisionError: nothing" and "x: 3 against 2" in lines[1]
    [row] = found.rows
    assert (row["benchmark"], row["key"], row["rounds"]) == ("search", "short", 2)
    assert found.signature["versions"]["pytest"] == pytest.__version__
