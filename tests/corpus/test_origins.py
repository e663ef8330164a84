"""Public texts from a local server and from a mirror, and changed texts."""

import gzip
import hashlib

import pytest

from weebill.corpus.origins import Origin, origin
from weebill.corpus.sources import Places, Source
from weebill.errors import InputError

TEXT = "one\ntwo\u2028three\n".encode()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def packed(site):
    """Serve the text in compressed form; return its origin."""
    data = gzip.compress(TEXT)
    url = site.add("/birds/train.en.gz", data)
    originals = {"train.en.gz": Source(url, "birds", sha256=sha256(data))}
    return Origin("birds/train.en", "CC0", originals, sha256(TEXT), len(TEXT), 2)


def test_a_text_is_fetched_unpacked_and_checked(packed, site, places, tmp_path):
    packed.make(tmp_path / "text", places)
    assert (tmp_path / "text").read_bytes() == TEXT
    packed.make(tmp_path / "again", places)
    assert len(site.seen) == 1


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_mirror_replaces_the_network(packed, site, tmp_path, monkeypatch, suffix):
    (original,) = packed.originals.values()
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / f"{original.sha256}{suffix}").write_bytes(site.files["/birds/train.en.gz"])
    packed.make(tmp_path / "text", Places(cache=str(tmp_path / "one"), mirror=str(mirror)))
    monkeypatch.setenv("WEEBILL_MIRROR", str(mirror))
    packed.make(tmp_path / "text", Places(cache=str(tmp_path / "two")))
    assert (tmp_path / "text").read_bytes() == TEXT
    assert site.seen == []


def test_a_changed_file_in_the_mirror_is_refused(packed, tmp_path):
    (original,) = packed.originals.values()
    (tmp_path / original.sha256).write_bytes(b"other")
    with pytest.raises(InputError, match=f"{original.sha256}: sha256 .*remove it from the mirror"):
        packed.make(tmp_path / "text", Places(cache=str(tmp_path / "one"), mirror=str(tmp_path)))
    assert not (tmp_path / "text").exists()


def test_a_mirror_that_is_no_folder_is_refused(packed, tmp_path):
    with pytest.raises(InputError, match="/none: no such folder"):
        packed.make(tmp_path / "text", Places(str(tmp_path), mirror=str(tmp_path / "none")))


def test_a_text_with_another_checksum_does_not_appear(packed, places, tmp_path):
    changed = Origin(packed.name, "CC0", packed.originals, "0" * 64, len(TEXT), 2)
    with pytest.raises(InputError, match=r"origin:birds/train\.en: .* expected 0000"):
        changed.make(tmp_path / "text", places)
    assert not (tmp_path / "text").exists()


def test_an_unknown_text_names_the_nearest():
    with pytest.raises(InputError, match=r"did you mean 'multi30k/train\.en'"):
        origin("multi30k/trian.en")
