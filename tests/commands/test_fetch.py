"""`weebill fetch`: an experiment's files from a local server, into a mirror, and from a mirror."""

import hashlib
import io
import json
import zipfile
from types import MappingProxyType

import pytest
import yaml

from tests.corpus.serving import serving
from weebill.__main__ import main
from weebill.commands import fetch  # noqa: F401 (before it is changed below)
from weebill.configuration.checking import check
from weebill.configuration.fetching import remote_sources
from weebill.corpus import origins
from weebill.corpus.sources import Places, Source
from weebill.errors import InputError

TEXT = b"one\ntwo\n"
SHA256 = hashlib.sha256(TEXT).hexdigest()
TRAINING = {"updates": 1, "warmup": 0}
SMALL = {"by": "making", "architecture": "gpt2", "positions": 1024, "training": TRAINING}
EXPERIMENT = {
    "experiment": "birds",
    "kind": "generation",
    "data": {"text": {"task": "language-modelling", "train": [{"path": "origin:birds.txt"}]}},
    "models": {"small": {**SMALL, "data": "text"}},
    "steps": {"tuned": {"method": "fine-tune", "training": TRAINING}},
    "pipelines": [{"model": "small", "steps": ["tuned"]}],
}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Serve files to an empty cache, in a folder without experiments; birds.txt is the only public text."""
    monkeypatch.setenv("WEEBILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("WEEBILL_MIRROR", raising=False)
    monkeypatch.setattr("weebill.corpus.download.ATTEMPTS", 1)
    with serving() as one:
        known = {"licence": "CC0", "sha256": SHA256, "bytes": len(TEXT)}
        original = Source(one.address + "/birds.txt", "birds.txt", **known)
        text = origins.Origin("birds.txt", "CC0", {"birds.txt": original}, SHA256, len(TEXT), 2)
        catalogue = MappingProxyType({"birds.txt": text})
        for user in (
            "commands.fetch",
            "configuration.origins",
            "corpus.origins",
        ):  # importers first
            monkeypatch.setattr(f"weebill.{user}.catalogue", lambda: catalogue)
        yield one


@pytest.fixture
def config(tmp_path):
    """Write an experiment that reads the public text."""
    path = tmp_path / "birds.yaml"
    path.write_text(yaml.safe_dump(EXPERIMENT))
    return str(path)


def test_what_is_missing_is_listed_with_its_size_and_licence(site, config, capsys):
    assert main(["fetch", config, "--dry-run"]) == 1
    line, total = capsys.readouterr().out.splitlines()
    assert line.split() == [
        "missing",
        "0.0",
        "MiB",
        "birds.txt",
        f"{site.address}/birds.txt",
        "CC0",
    ]
    assert total.endswith("1 missing")
    assert site.seen == []


def test_a_mirror_is_filled_and_then_replaces_the_network(
    site, config, tmp_path, capsys, monkeypatch
):
    site.add("/birds.txt", TEXT)
    mirror = tmp_path / "mirror"
    assert main(["fetch", config, "--mirror", str(mirror)]) == 0
    assert "fetched" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in mirror.iterdir()} == {SHA256: TEXT}
    asked = len(site.seen)
    monkeypatch.setenv("WEEBILL_MIRROR", str(mirror))
    monkeypatch.setenv("WEEBILL_CACHE", str(tmp_path / "new"))
    assert main(["fetch", config]) == 0
    assert capsys.readouterr().out.startswith("in the mirror")
    assert len(site.seen) == asked


def test_a_wrong_file_of_a_mirror_is_replaced(site, config, tmp_path, capsys):
    site.add("/birds.txt", TEXT)
    place = tmp_path / "mirror" / SHA256
    place.parent.mkdir()
    place.write_bytes(b"wrong")
    assert main(["fetch", config, "--mirror", str(place.parent)]) == 0
    assert place.read_bytes() == TEXT
    place.unlink()
    place.mkdir()
    assert main(["fetch", config, "--mirror", str(place.parent)]) == 1
    assert "a folder stands where a file should; remove it" in capsys.readouterr().err


def test_texts_that_the_configuration_defines(site, config, tmp_path, capsys, monkeypatch):
    """One text is a member of an archive, the other a side of a table."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a/train.en", TEXT)
        archive.writestr("a/train.de", b"eins\nzwei\n")
    address = site.add("/birds.zip", packed.getvalue())
    sha256 = hashlib.sha256(packed.getvalue()).hexdigest()
    table = site.add("/birds.tsv", b"one\teins\ntwo\tzwei\n")
    own = {
        "zipped": {"importer": "address", "url": address, "sha256": sha256, "member": "*/train.en"},
        "german": {
            "importer": "files",
            "table": table,
            "columns": {"source": 0, "target": 1},
            "sha256": {"table": hashlib.sha256(site.files["/birds.tsv"]).hexdigest()},
            "side": "target",
        },
    }
    data = {"task": "language-modelling"}
    data["train"] = [{"path": "origin:zipped"}, {"path": "origin:german"}]
    given = {**EXPERIMENT, "origins": own, "data": {"text": data}}
    # The check only accepts HTTPS addresses, but the local server has no certificate.
    text = json.dumps(given).replace(site.address, site.address.replace("http:", "https:"))
    found = json.dumps(check(json.loads(text), "birds.yaml"))
    found = json.loads(found.replace(site.address.replace("http:", "https:"), site.address))
    paths = [entry["path"] for entry in found["data"]["text"]["train"]]
    assert paths == ["data/origins/zipped", "data/origins/german"]
    for name, text in (("zipped", TEXT), ("german", b"eins\nzwei\n")):
        made = origins.origin(name, found["origins"])
        made.make(tmp_path / name, Places())
        assert (tmp_path / name).read_bytes() == text
    fetched, unknown = remote_sources(found, Places())
    assert {source.place for source in fetched} == {address, table} and not unknown


def test_a_definition_may_not_hide_a_public_text(site):
    own = {"birds.txt": {"importer": "address", "url": "https://a/b", "sha256": SHA256}}
    with pytest.raises(InputError, match=r"origins\.birds\.txt: is the name of a public text"):
        check({**EXPERIMENT, "origins": own}, "birds.yaml")
    data = {"text": {"task": "language-modelling", "train": [{"path": "origin:bird.txt"}]}}
    with pytest.raises(InputError, match=r"train\[0\]\.path: .*; did you mean 'birds\.txt'"):
        check({**EXPERIMENT, "data": data}, "birds.yaml")


@pytest.mark.parametrize("path", ["data/origins/mine.txt", "./data/origins/../mine.txt"])
def test_the_folder_of_public_texts_has_no_others(site, path):
    """A rule would take a user's file there for its own output."""
    data = {"text": {"task": "language-modelling", "train": [{"path": path}]}}
    with pytest.raises(
        InputError, match=r"train\[0\]\.path: found '.*', expected a name in `origins`"
    ):
        check({**EXPERIMENT, "data": data}, "birds.yaml")


def test_one_failure_does_not_hide_the_others(site, config, capsys):
    assert main(["fetch", config]) == 1
    found = capsys.readouterr()
    assert "birds.txt: cannot be fetched" in found.err
    assert found.out.startswith("not fetched")


def test_all_public_texts_are_listed(capsys):
    assert main(["fetch", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(origins.catalogue())
    assert main(["fetch"]) == 1
    assert "name a configuration" in capsys.readouterr().err
