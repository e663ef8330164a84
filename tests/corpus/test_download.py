"""Files by URL: fetched once and whole, resumed after a break, and identified by checksums."""

import errno
import hashlib
import os
import ssl
import subprocess
import sys
from pathlib import Path
from urllib.error import URLError

import pytest

from weebill.corpus.download import ATTEMPTS, cache_folder, fetched
from weebill.errors import InputError, explain

BODY = os.urandom(3_000_000)  # several blocks
SHA256 = hashlib.sha256(BODY).hexdigest()


def files(folder: Path) -> list[str]:
    """Return everything in a folder except the locks of its folders."""
    return [path.name for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]


def test_fetched_once_and_verified_again(site):
    url = site.add("/corpus/a%20b.en.gz", BODY)
    path = fetched(url, SHA256)
    assert path.read_bytes() == BODY and path.name == "a b.en.gz"
    assert files(cache_folder()) == ["a b.en.gz"]
    assert fetched(url, SHA256) == path and len(site.seen) == 1
    path.write_bytes(b"damaged")
    with pytest.raises(InputError, match=f"expected {SHA256}; remove {path} and run"):
        fetched(url, SHA256)


def test_the_cache_knows_a_file_by_address_and_checksum(site):
    old = site.add("/a.gz", b"old")
    paths = {fetched(old, hashlib.sha256(b"old").hexdigest())}
    site.files["/a.gz"] = b"new"
    paths |= {fetched(old, hashlib.sha256(b"new").hexdigest()), fetched(site.add("/b/a.gz", b"x"))}
    assert sorted(path.read_bytes() for path in paths) == [b"new", b"old", b"x"]


def test_goes_on_where_it_broke_off(site):
    url = site.add("/a.gz", BODY)
    site.breaks["/a.gz"] = [1_000_000, 1_500_000]
    assert fetched(url, SHA256).read_bytes() == BODY
    ranges = [asked for _, asked in site.seen]
    assert ranges == [None, "bytes=1000000-", "bytes=2500000-"]


@pytest.mark.parametrize("what", ["no ranges", "another file"])
def test_begins_anew_where_it_must(site, what):
    url = site.add("/a.gz", os.urandom(2_000_000) if what == "another file" else BODY)
    site.breaks["/a.gz"] = [1_000_000, 0, 0, 0, 0]
    site.ranges = what != "no ranges"
    with pytest.raises(InputError, match=r"broke off after 1,000,000|broke off after 0 of"):
        fetched(url)  # a checksum would detect a mixture
    site.files["/a.gz"], site.breaks = BODY, {}
    assert fetched(url).read_bytes() == BODY


TEXT = b"twenty bytes of text"
BROKEN = (200, {"ETag": '"a"', "Content-Length": "20"}, TEXT[:5])
"""Answer that breaks off after 5 bytes."""


def rest(place, body, **headers):
    """Return an answer with a part of the text."""
    return 206, {"Content-Range": f"bytes {place}", **headers}, body


# First answers, and the byte from which each request then asks for the rest (None: the whole file).
REPLIES = {
    "a rest in two parts": ([BROKEN, rest("5-9/20", TEXT[5:10])], [None, 5, 10]),
    "a rest that ends early": ([BROKEN, rest("5-19/20", TEXT[5:8])], [None, 5, 8]),
    "another part": ([BROKEN, rest("7-19/20", TEXT[7:])], [None, 5, None]),
    "a part without its place": ([BROKEN, (206, {}, TEXT[5:])], [None, 5, None]),
    "a file of unknown size": ([BROKEN, rest("5-9/*", TEXT[5:10])], [None, 5, None]),
    "a part of another file": ([BROKEN, rest("5-19/20", b"-" * 15, ETag='"b"')], [None, 5, None]),
    "a part unasked": ([rest("5-9/20", TEXT[5:10])], [None, None]),
    "the first part unasked": ([rest("0-9/20", TEXT[:10])], [None, None]),
    "a promise": ([(202, {"Content-Length": "4"}, b"wait")], [None, None]),
    "a promise between": ([BROKEN, (202, {"Content-Length": "4"}, b"wait")], [None, 5, 5]),
    "nothing": ([(204, {}, b"")], [None, None]),
    "a changed copy": ([(203, {}, b"<p>twenty bytes")], [None, None]),
}


@pytest.mark.parametrize("name", REPLIES)
def test_only_the_whole_file_counts(site, name):
    """Without a checksum, only the answers can show that they are not the whole file."""
    url = site.add("/a.txt", TEXT)
    site.replies["/a.txt"], starts = list(REPLIES[name][0]), REPLIES[name][1]
    site.tag = '"a"'
    assert fetched(url).read_bytes() == TEXT
    asked = [None if start is None else f"bytes={start}-" for start in starts]
    assert [place for _, place in site.seen] == asked


def test_a_server_that_never_sends_the_file_is_refused(site):
    url = site.address + "/a.txt"
    site.replies["/a.txt"] = [(202, {"Content-Length": "4"}, b"wait")] * ATTEMPTS
    with pytest.raises(InputError, match="the server answered 202 Accepted, without the file"):
        fetched(url)
    assert files(cache_folder()) == []


def test_a_killed_download_goes_on(site):
    url = site.add("/a.gz", BODY)
    site.breaks["/a.gz"] = [2_000_000] + [0] * ATTEMPTS
    with pytest.raises(InputError, match="cannot be fetched"):
        fetched(url, SHA256)
    asked = len(site.seen)
    site.breaks = {}
    assert fetched(url, SHA256).read_bytes() == BODY
    assert site.seen[asked:] == [("/a.gz", "bytes=2000000-")]


def test_gives_up_where_nothing_comes(site):
    url = site.add("/a.gz", BODY)
    site.breaks["/a.gz"] = [0] * 99
    with pytest.raises(InputError, match=r"broke off after 0 of 3,000,000 bytes"):
        fetched(url, SHA256)
    assert len(site.seen) == ATTEMPTS
    with pytest.raises(InputError, match=r"/gone\.gz: cannot be fetched \(HTTP Error 404"):
        fetched(site.address + "/gone.gz")
    assert len(site.seen) == ATTEMPTS + 1  # a 404 is not retried


def test_wrong_checksum_leaves_nothing(site):
    url = site.add("/a.gz", BODY)
    with pytest.raises(
        InputError, match=rf"sha256 is {SHA256}, expected 1111.*correct the checksum"
    ):
        fetched(url, "1" * 64)
    assert files(cache_folder()) == []


def test_offline_says_what_to_bring_where(site):
    url = "http://nohost.invalid/data/en-de.txt.gz"
    with pytest.raises(InputError) as caught:
        fetched(url, wanted="ParaCrawl-paracrawl-9-eng-deu.tsv.gz")
    assert "\n" not in str(caught.value)
    for part in (url, "'ParaCrawl-paracrawl-9-eng-deu.tsv.gz'", "`local_dir`", "network"):
        assert part in str(caught.value)


FETCH = "import sys; from weebill.corpus.download import fetched; fetched(*sys.argv[1:])"


def test_two_processes_fetch_once(site):
    url = site.add("/a.gz", BODY)
    command = [sys.executable, "-c", FETCH, url, SHA256]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert site.seen == [("/a.gz", None)]
    assert files(cache_folder()) == ["a.gz"]


def test_a_full_disk_is_no_fault_of_the_network(site, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")  # errors of writing name no file

    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(OSError) as caught:
        fetched(site.add("/a.gz", BODY), SHA256)
    assert len(site.seen) == 1
    assert "/a.gz: the disk is full" in explain(caught.value)


def test_a_bad_certificate_is_asked_for_once(site, monkeypatch):
    asked = []

    def urlopen(request, timeout):
        asked.append(request)
        raise URLError(ssl.SSLCertVerificationError("certificate verify failed"))

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    with pytest.raises(InputError, match=r"cannot be fetched .*certificate verify failed"):
        fetched("https://x.invalid/a.gz")
    assert len(asked) == 1


def test_a_user_without_a_home(monkeypatch):
    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("pathlib.Path.home", home)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("WEEBILL_CACHE", "/c")
    assert cache_folder() == Path("/c/downloads")
    monkeypatch.delenv("WEEBILL_CACHE")
    with pytest.raises(
        InputError, match=r"this user has no home folder; name one by \$WEEBILL_CACHE"
    ):
        cache_folder()
