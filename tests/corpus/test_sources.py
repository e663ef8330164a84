"""Locations of source files."""

import hashlib
from dataclasses import replace

import pytest

from weebill.corpus.sources import Source, local_file
from weebill.errors import InputError


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_local_folder_goes_before_the_network(tmp_path, site, places):
    own = replace(places, local_dir=str(tmp_path / "own"))
    (tmp_path / "own").mkdir()
    source = Source(site.add("/en-de.gz", b"theirs"), "x", file_name="x-1-en-de.gz")
    assert own.path(source).read_bytes() == b"theirs"
    (tmp_path / "own/en-de.gz").write_bytes(b"of another corpus")
    assert own.path(source).read_bytes() == b"theirs"
    (tmp_path / "own/x-1-en-de.gz").write_bytes(b"ours")
    assert own.path(source).read_bytes() == b"ours"
    assert places.path(source).read_bytes() == b"theirs" and len(site.seen) == 1
    with pytest.raises(InputError, match=r"own/x-1-en-de\.gz: sha256 is "):
        own.path(replace(source, sha256=sha256(b"theirs")))


def test_paths_and_urls_of_the_configuration(tmp_path, site, places):
    url = site.add("/lid.ftz", b"data")
    with pytest.raises(InputError, match="a URL needs its sha256"):
        local_file(url)
    assert local_file(url, sha256(b"data"), places).read_bytes() == b"data"
    with pytest.raises(InputError, match="no such file"):
        local_file(str(tmp_path / "missing"))
