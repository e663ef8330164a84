"""Every environment pins all its packages; the conda forms have the same pins."""

import re
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.workflow.running import REPOSITORY

ENVIRONMENTS = REPOSITORY / "envs"

# Requirements of bicleaner's packages that are not installed: see envs/bicleaner.txt.
REPLACED = {"cyhunspell", "fasttext-wheel", "tensorflow"}


def pins(name: str) -> list[str]:
    """Return the requirements of envs/NAME.txt."""
    lines = (ENVIRONMENTS / f"{name}.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("name", ["main", "comet", "bicleaner", "opusfilter"])
def test_every_version_is_pinned(name):
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins(name))


@pytest.mark.parametrize("name", ["main", "comet", "bicleaner", "opusfilter"])
def test_what_a_package_asks_for_is_pinned_too(name):
    folder = Path(sys.prefix) if name == "main" else REPOSITORY / ".venvs" / name
    if not folder.is_dir():
        pytest.skip(f"this environment is not here; envs/install.sh {name} {folder}")
    pinned = {canonicalize_name(pin.split("==")[0]) for pin in pins(name)}
    places = list(map(str, folder.glob("lib/python3*/site-packages")))
    asked = {
        canonicalize_name(requirement.name): distribution.name
        for distribution in distributions(path=places)
        # PyTorch's builds for GPUs require more.
        if canonicalize_name(distribution.name) in pinned - {"torch"}
        for requirement in map(Requirement, distribution.requires or [])
        if not requirement.marker or requirement.marker.evaluate({"extra": ""})
    }
    assert asked.keys() - pinned - REPLACED == set()


@pytest.mark.parametrize("name", ["main", "comet", "bicleaner"])
def test_conda_form_agrees(name):
    content = yaml.safe_load((ENVIRONMENTS / f"{name}.yaml").read_text())
    pip = next(part["pip"] for part in content["dependencies"] if isinstance(part, dict))
    conda = [pin for pin in pip if not pin.startswith("--")]
    later = ENVIRONMENTS / f"{name}.post-deploy.sh"
    if later.exists():
        conda += re.findall(r"\S+==\S+", later.read_text())
    # install.sh adds the wheel of KenLM's programs to the main environment.
    added = ["bicleaner-hardrules==2.10.8"] if name == "main" else []
    assert sorted(conda) == sorted(pins(name) + added)
