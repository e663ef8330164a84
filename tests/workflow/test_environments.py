"""Every environment is pinned; the conda forms of main and comet have the same pins."""

import re

import pytest
import yaml

from tests.workflow.running import REPOSITORY

ENVIRONMENTS = REPOSITORY / "envs"


def pins(name: str) -> list[str]:
    """The requirements of envs/NAME.txt."""
    lines = (ENVIRONMENTS / f"{name}.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("name", ["main", "comet", "bicleaner", "opusfilter"])
def test_every_version_is_pinned(name):
    assert all(re.fullmatch(r"[\w.-]+(\[[\w,-]+\])?==[\w.]+", pin) for pin in pins(name))


@pytest.mark.parametrize("name", ["main", "comet"])
def test_conda_form_agrees(name):
    content = yaml.safe_load((ENVIRONMENTS / f"{name}.yaml").read_text())
    conda = next(part["pip"] for part in content["dependencies"] if isinstance(part, dict))
    assert [pin for pin in conda if not pin.startswith("--")] == pins(name)
