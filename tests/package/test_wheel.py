"""The wheel contains the library with its data and licences; a clone beside a script is not mistaken for it."""

import sys
import zipfile
from pathlib import Path

from tests.package.installing import ROOT, build, run
from weebill import __version__


def test_it_holds_the_package_and_nothing_else(wheel, sources):
    with zipfile.ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    package = {file.relative_to(sources).as_posix(): file.read_bytes()
               for file in (sources / "weebill").rglob("*") if file.is_file()}  # fmt: skip
    for name in ("experiment/models.yaml", "configuration/schemas/metric.schema.json",
                 "report/papers/wmt2021_table1.csv"):  # fmt: skip
        assert f"weebill/{name}" in package
    assert {name: text for name, text in held.items() if ".dist-info/" not in name} == package


def test_it_names_both_licences_and_holds_their_texts(wheel, told):
    assert told["License-Expression"] == "Apache-2.0 AND CC-BY-2.0"
    with zipfile.ZipFile(wheel) as archive:
        held = archive.namelist()
    for name in ("LICENSE", "NOTICE", "weebill/corpus/tatoeba/NOTICE.md"):
        assert any(path.endswith(f".dist-info/licenses/{name}") for path in held)
        assert name in told.get_all("License-File")


def test_config_links_to_the_package():
    for link, kept in (
        ("models.yaml", "experiment/models.yaml"),
        ("schema", "configuration/schemas"),
    ):
        assert (ROOT / "config" / link).samefile(ROOT / "weebill" / kept)
        assert not (ROOT / "config" / link).readlink().is_absolute()


def test_a_clone_named_weebill_is_no_package(sources, tmp_path):
    wheel = build("build_editable", sources, tmp_path / "wheel")
    run(sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv"), cwd=tmp_path)
    (site,) = (tmp_path / "venv/lib").glob("python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    python = str(tmp_path / "venv/bin/python")
    beside = run(python, "-m", "weebill", "--version", cwd=sources.parent)
    assert beside.stdout == f"{__version__}\n"
    where = run(python, "-c", "import weebill; print(weebill.__file__)", cwd=sources.parent)
    assert Path(where.stdout.strip()).samefile(sources / "weebill/__init__.py")
