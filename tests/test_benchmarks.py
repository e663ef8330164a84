"""Options that a benchmark's `run` declares: types, multiple values, defaults, help."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import pytest

from weebill.benchmarks import Option, add_options


def run(
    rounds: int,
    arch: Annotated[Sequence[str], Option("networks", "NAME")] = ("tiny", "base"),
    beam: Annotated[Sequence[int], Option("of the search", "N")] = (4,),
    kind: Annotated[str, Option("shape", choices=("a", "b"))] = "a",
    model: Annotated[Path | None, Option("a folder; default none", "FOLDER")] = None,
    count: Annotated[int | None, Option("so many", "N")] = None,
):
    """Take the options of a benchmark."""


@pytest.fixture
def parser():
    made = argparse.ArgumentParser()
    add_options(made, run)
    return made


def test_defaults_are_those_of_the_parameters(parser):
    expected = {"arch": ("tiny", "base"), "beam": (4,), "kind": "a", "model": None, "count": None}
    assert vars(parser.parse_args([])) == expected
    shown = " ".join(parser.format_help().split())
    assert "networks; default tiny base" in shown and "of the search; default 4" in shown
    assert "a folder; default none" in shown and "default None" not in shown


def test_values_have_the_types_of_the_parameters(parser):
    words = ["--arch", "x", "y", "--beam", "1", "8", "--kind", "b", "--model", "some/folder"]
    found = parser.parse_args([*words, "--count", "3"])
    assert (found.arch, found.beam, found.kind) == (["x", "y"], [1, 8], "b")
    assert (found.model, found.count) == (Path("some/folder"), 3)


@pytest.mark.parametrize(
    "words", [["--beam", "0"], ["--count", "two"], ["--kind", "c"], ["--arch"], ["--rounds", "2"]]
)
def test_bad_values(parser, words):
    with pytest.raises(SystemExit):
        parser.parse_args(words)
