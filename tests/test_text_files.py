"""Text is read whole or not at all: a truncated compressed file is never taken for a shorter text."""

import base64
import gzip
import io
import lzma
import random
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

import pytest
import zstandard

from weebill.errors import InputError
from weebill.text_files import (
    LONGEST_LINE,
    Omitted,
    bounded,
    lines_or_omitted,
    read_argument,
    read_lines,
)
from weebill_runtime.lines import checked_lines

ROOT = Path(__file__).parents[1]
RANDOM = random.Random(1)
LINES = [f"{base64.b64encode(RANDOM.randbytes(60)).decode()} ä" for _ in range(20_000)]
TEXT = "".join(f"{line}\n" for line in LINES).encode()
COMPRESS = {
    ".gz": gzip.compress,
    ".xz": partial(lzma.compress, preset=0),
    ".zst": zstandard.compress,
}


@cache
def archive_of_text(suffix: str) -> bytes:
    """Compress TEXT."""
    return COMPRESS[suffix](TEXT)


def _file(folder, suffix: str, data: bytes) -> Path:
    path = folder / f"a{suffix}"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("suffix", COMPRESS)
def test_archives_one_after_the_other_are_one_text(tmp_path, suffix):
    parts = [TEXT[:500_000], b"", TEXT[500_000:]]
    path = _file(tmp_path, suffix, b"".join(map(COMPRESS[suffix], parts)))
    assert list(read_lines(path)) == LINES


def test_a_byte_order_mark_is_no_text(tmp_path):
    mark = "\ufeff"
    path = _file(tmp_path, "", f"{mark}Ä\n{mark}b\n{mark}".encode())
    assert list(read_lines(path)) == ["Ä", f"{mark}b", mark]
    found = lines_or_omitted(io.BytesIO(f"{mark}ab\nabcd\n".encode()), "text", 5)
    assert list(found) == ["ab", "abcd"]


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("kept", [3, 1000, 400_000, 800_000, -9, -1])
def test_every_cut_is_noticed(tmp_path, suffix, kept):
    archive = archive_of_text(suffix)
    assert len(archive) > 800_000  # several blocks
    for before in (b"", archive):
        path = _file(tmp_path, suffix, before + archive[:kept])
        with pytest.raises(InputError, match=rf"a{suffix}: damaged or truncated after line \d"):
            list(read_lines(path))


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("name", ["", ".GZ", ".txt"])
def test_compressed_text_whose_name_does_not_tell_it(tmp_path, suffix, name):
    path = _file(tmp_path, name, COMPRESS[suffix](b"a\n"))
    with pytest.raises(
        InputError, match=rf"a{name}: compressed; let its name end in \{suffix}, or"
    ):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", COMPRESS)
def test_other_bytes_after_the_archive(tmp_path, suffix):
    path = _file(tmp_path, suffix, archive_of_text(suffix) + b"<html>")
    with pytest.raises(InputError, match=rf"a{suffix}: damaged or truncated"):
        list(read_lines(path))


def test_padding_of_an_archive_is_no_damage(tmp_path):
    first, second = map(COMPRESS[".xz"], (TEXT[:500_000], TEXT[500_000:]))
    padded = first + bytes(8) + second + bytes(4)
    assert list(read_lines(_file(tmp_path, ".xz", padded))) == LINES


def test_an_archive_that_asks_for_gigabytes_of_memory_is_refused(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 2**30}]
    coder = lzma.LZMACompressor(filters=filters)
    # The header names a large dictionary even for a small text.
    path = _file(tmp_path, ".xz", coder.compress(b"a\n") + coder.flush())
    with pytest.raises(InputError, match=r"a\.xz: damaged .* \(Memory usage limit exceeded\)"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", [".bz2", ".zip"])
def test_other_archives_are_named(tmp_path, suffix):
    path = _file(tmp_path, suffix, b"\xfd7zXZ\x00")
    with pytest.raises(
        InputError, match=rf"a{suffix}: .* {suffix} is not read; use \.gz, \.xz or \.zst, or"
    ):
        list(read_lines(path))


def test_a_missing_file_may_be_of_the_command_line(tmp_path):
    with pytest.raises(InputError, match=r"none\.txt: no such file; check the path$"):
        list(read_lines(tmp_path / "none.txt"))


PEAK = """
import resource, sys
from weebill.text_files import LONGEST_LINE, Omitted, bounded, lines_or_omitted, read_argument, read_lines
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
lines = sum(1 for _ in read_lines(sys.argv[1]))
print(lines, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.workflows
def test_memory_does_not_follow_the_text(tmp_path):
    path = tmp_path / "long.zst"
    with zstandard.open(path, "wb") as file:
        for _ in range(40):
            file.write(b"the same again\n" * 70_000)
    assert path.stat().st_size < 50_000  # unpacks to 42 MB; few bytes already unpack to much
    run = subprocess.run(
        [sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=True
    )
    lines, mib = map(int, run.stdout.split())
    assert lines == 2_800_000
    assert mib < 20


def test_lines_of_a_program_are_any_iterable_of_strings():
    assert checked_lines("x", (line for line in ("a", ""))) == ["a", ""]
    for bad in ("a", b"a", {"a": 1}, 3, None):
        with pytest.raises(InputError, match=r"^x: found .*, expected a list of strings$"):
            checked_lines("x", bad)
    with pytest.raises(InputError, match=r"^x: line 2 is nan, expected a string; give '' for"):
        checked_lines("x", ["a", float("nan")])
    assert checked_lines("x", ["😀", "\ufffd"]) == ["😀", "\ufffd"]
    for bad in ("é\ud83d", "é\udc00", "é\ude00\ud83d"):
        with pytest.raises(InputError, match=r"^x: line 2 has half a character .* at column 2; "):
            checked_lines("x", ["a", bad])


@pytest.mark.parametrize("text", [b"one\rtwo\rthree", b"one\rtwo\r", b"one\rtwo\n"])
def test_lines_that_end_in_carriage_returns_alone_are_refused(tmp_path, text):
    (tmp_path / "mac.txt").write_bytes(text)
    with pytest.raises(
        InputError, match=r"mac\.txt: its lines end in carriage returns alone; .*`tr "
    ):
        list(read_lines(tmp_path / "mac.txt"))


@pytest.mark.parametrize("text", [b"one\r\ntwo\r\n", b"one\r", b"a\rb\ntwo\n", b"", b"\r\n"])
def test_other_carriage_returns_stay(tmp_path, text):
    (tmp_path / "text").write_bytes(text)
    assert (
        list(read_lines(tmp_path / "text"))
        == text.decode().removesuffix("\n").split("\n")[: text.count(b"\n") or bool(text)]
    )


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs an endless line")
def test_a_line_without_end_is_refused_before_it_is_read():
    with pytest.raises(
        InputError, match=r"/dev/zero:1: more than 1,048,576 bytes in one line; divide"
    ):
        list(read_argument("/dev/zero"))


@pytest.mark.parametrize("suffix", ["", *COMPRESS])
def test_the_longest_line(tmp_path, suffix):
    longest = "ä" * (LONGEST_LINE // 2)
    data = f"a\n{longest}\n{longest}.\nb\n".encode()
    path = _file(tmp_path, suffix, COMPRESS.get(suffix, bytes)(data))
    lines = read_lines(path)
    assert [next(lines), next(lines)] == ["a", longest]
    with pytest.raises(InputError, match=rf"a{suffix}:3: more than"):
        next(lines)
    assert list(read_lines(path, 2**24)) == ["a", longest, f"{longest}.", "b"]


@pytest.mark.parametrize("end", ["", "\n", "\nlast", "\n\n"])
@pytest.mark.parametrize("more", [1, 2, LONGEST_LINE, LONGEST_LINE + 1, 3 * LONGEST_LINE])
def test_a_line_that_is_too_long_is_read_over(more, end):
    text = "first\n" + "x" * (LONGEST_LINE + more) + end
    found = list(lines_or_omitted(io.BytesIO(text.encode()), "name"))
    assert found == ["first", "", *text.split("\n")[2 : 3 if end != "\n" else 2]]
    assert [isinstance(line, Omitted) for line in found][:2] == [False, True]
    assert found[1].fault == "name:2: more than 1,048,576 bytes in one line"


def test_bounds_of_a_text_are_in_bytes():
    for text, omitted in (("x" * LONGEST_LINE, False), ("x" * (LONGEST_LINE + 1), True),
                          ("🐦" * (LONGEST_LINE // 4), False), ("🐦" * (LONGEST_LINE // 4 + 1), True)):  # fmt: skip
        assert isinstance(bounded(text, "here"), Omitted) == omitted


def test_arguments_are_files_or_streams(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"typed\n")))
    assert list(read_argument("-")) == ["typed"]
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input: closed"):
        list(read_argument("-"))
    with pytest.raises(InputError, match="a folder, expected a file"):
        list(read_argument(tmp_path))
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"packed\n"))  # only streams are not unpacked
    assert list(read_argument(tmp_path / "a.gz")) == ["packed"]


@pytest.mark.parametrize("packed", [gzip.compress(b"Ja.\n"), lzma.compress(b"Ja.\n" * 999)])
def test_a_compressed_stream_is_named(packed, monkeypatch):
    """Its first line may end anywhere: it is neither text in another encoding nor old Mac text."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    with pytest.raises(InputError, match="standard input: compressed; unpack it by zcat"):
        list(read_argument("-"))


def test_arguments_may_be_written_by_windows(tmp_path):
    """Its mark is that of the file alone; a carriage return inside a line is text."""
    lines, file = ["Ja.", "", "\ufeffNein\r.", "Doch."], tmp_path / "text"
    file.write_bytes("\ufeff{}\r\n{}\r\n{}\r\n{}".format(*lines).encode())
    assert list(read_argument(file)) == lines
    file.write_bytes(b"")
    assert list(read_argument(file)) == []
