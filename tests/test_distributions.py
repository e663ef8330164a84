"""Distributions that are required, and the bytes of their files, against those that pip lists."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from weebill.distributions import required, unpacked_bytes


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a function that installs an empty distribution, with files of some bytes, in a folder of its own."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(name: str, *requires: str, **files: int) -> None:
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0"]
        lines += [f"Requires-Dist: {one}" for one in requires]
        (info / "METADATA").write_text("\n".join(lines) + "\n")
        names = [file.replace("__", ".") for file in files]
        for file, size in zip(names, files.values(), strict=True):
            (tmp_path / file).write_bytes(bytes(size))
        (info / "RECORD").write_text("".join(f"{one},,\n" for one in names))

    return install


def test_requirements_are_followed_as_extras_and_markers_say(site):
    site("aa", "Bb[more]>=1", "cc; extra == 'c'", "dd; python_version < '3'")
    site("bb", "ee", "ff; extra == 'more'", "gg; extra == 'other'")
    site("ee", "aa")  # in a circle
    for name in ("cc", "ff", "gg"):
        site(name)
    assert set(required([Requirement("aa")])) == {"aa", "bb", "ee", "ff"}
    assert set(required([Requirement("aa[c]")])) == {"aa", "bb", "cc", "ee", "ff"}
    known = {"zz": [Requirement("cc"), Requirement("gg; extra == 'own'")]}
    assert set(required([Requirement("zz")], known)) == {"cc"}
    assert set(required([Requirement("zz[own]")], known)) == {"cc", "gg"}
    with pytest.raises(metadata.PackageNotFoundError, match="absent"):
        required([Requirement("absent")])


def test_what_python_compiles_is_not_weighed(site):
    site("aa", first__py=700, second__so=50, first__pyc=9000)
    assert unpacked_bytes(metadata.distribution("aa")) == 750


def test_a_package_weighs_what_its_folder_does():
    """pip, in a process of its own, names the files of an installed package."""
    shown = [sys.executable, "-m", "pip", "show", "--files", "packaging"]
    lines = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.splitlines()
    location = Path(next(line for line in lines if line.startswith("Location: "))[10:])
    names = [line.strip() for line in lines[lines.index("Files:") + 1 :]]
    weighed = sum((location / one).stat().st_size for one in names if not one.endswith(".pyc"))
    assert unpacked_bytes(metadata.distribution("packaging")) == weighed > 0
