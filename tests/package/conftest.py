"""The wheel, its metadata, and an environment with nothing else."""

import shutil
import sys
import zipfile
from email.parser import BytesParser
from importlib.util import find_spec

import pytest
from packaging.requirements import Requirement

from tests.package.installing import ROOT, build, run


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """Make a folder with the sources of a wheel, named like a clone."""
    folder = tmp_path_factory.mktemp("parent") / "weebill"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("weebill", "runtime/weebill_runtime"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "Snakefile"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "config", folder / "config", symlinks=True)
    return folder


@pytest.fixture(scope="session")
def wheel(sources, tmp_path_factory):
    return build("build_wheel", sources, tmp_path_factory.mktemp("built") / "wheel")


@pytest.fixture(scope="session")
def told(wheel):
    """Return the wheel's metadata."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return BytesParser().parsebytes(archive.read(name))


@pytest.fixture(scope="session")
def requirements(told):
    """Return the wheel's requirements, including those of its extras."""
    return [Requirement(text) for text in told.get_all("Requires-Dist")]


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """Make an environment with only the wheel; return its Python."""
    folder = tmp_path_factory.mktemp("bare")
    python = folder / "venv/bin/python"
    has_pip = find_spec("pip") is not None  # uv's environments have none
    bare = ["--without-pip"] if has_pip else []  # saves seconds
    run(sys.executable, "-m", "venv", *bare, str(folder / "venv"), cwd=folder)
    pip = [sys.executable, "-m", "pip", "--python"] if has_pip else [str(python), "-m", "pip"]
    pip += [str(python)] if has_pip else []
    run(*pip, "install", "-q", "--no-compile", "--no-deps", "--no-index", str(wheel), cwd=folder)
    return python
