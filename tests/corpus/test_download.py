"""Files by URL: fetched once, known by their checksum, nothing half-written."""

import errno
import hashlib

import pytest

from goldcrest.corpus.sources import local_file
from goldcrest.errors import InputError
from goldcrest.job import explain


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A file to fetch, as (URL, sha256), and an empty cache."""
    monkeypatch.setenv("GOLDCREST_CACHE", str(tmp_path / "cache"))
    (tmp_path / "a.en.gz").write_bytes(b"data")
    return (tmp_path / "a.en.gz").as_uri(), hashlib.sha256(b"data").hexdigest()


def test_fetched_once_and_verified_again(tmp_path, mirror):
    url, sha256 = mirror
    path = local_file(url, sha256)
    assert path.read_bytes() == b"data" and path.name == "a.en.gz"
    (tmp_path / "a.en.gz").unlink()
    assert local_file(url, sha256) == path
    path.write_bytes(b"damaged")
    with pytest.raises(InputError, match=f"expected {sha256}"):
        local_file(url, sha256)


def test_wrong_checksum_leaves_nothing(tmp_path, mirror):
    with pytest.raises(InputError, match=r"sha256 is .*, expected 1111.*correct the checksum"):
        local_file(mirror[0], "1" * 64)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_url_without_checksum_and_unreachable_url(tmp_path, mirror):
    with pytest.raises(InputError, match="a URL needs its sha256"):
        local_file(mirror[0])
    missing = (tmp_path / "missing.gz").as_uri()
    with pytest.raises(InputError, match="cannot be fetched"):
        local_file(missing, "1" * 64)


def test_a_full_disk_is_no_fault_of_the_network(tmp_path, mirror, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")  # a file's writes name no file

    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(OSError) as caught:
        local_file(*mirror)
    path = tmp_path / "cache" / mirror[1][:16] / "a.en.gz"
    assert explain(caught.value).startswith(f"{path}: the disk is full")
    assert list(path.parent.iterdir()) == []
