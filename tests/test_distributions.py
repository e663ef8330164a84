"""Required distributions, and the bytes of their files, compared with pip's records."""

import csv
from importlib import metadata

import pytest
from packaging.requirements import Requirement

from weebill.distributions import required, unpacked_bytes


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a function that installs a distribution of files with given sizes in a separate folder."""
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
    site("ee", "aa")  # a circle
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


def test_a_package_weighs_what_pip_recorded():
    """pip's RECORD has the size of each unpacked file, except its own and those of compiled files."""
    found = metadata.distribution("packaging")
    rows = list(csv.reader(found.read_text("RECORD").splitlines()))
    recorded = sum(int(size) for name, _, size in rows if size and not name.endswith(".pyc"))
    others = [name for name, _, size in rows if not size and not name.endswith(".pyc")]
    assert {name.rpartition("/")[2] for name in others} == {"RECORD"}
    own = found.locate_file(others[0]).stat().st_size
    assert unpacked_bytes(found) == recorded + own
