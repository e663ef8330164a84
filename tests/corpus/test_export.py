"""An export equals the imported text byte for byte, and never writes only a part of it."""

import gzip
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard

from tests.mounting import mounted
from weebill.__main__ import main
from weebill.corpus.importing import import_corpus
from weebill.corpus.table import write_table
from weebill.errors import InputError

TEXT = "One line\n\nmit Umlaut: ü\u2028\x85\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "a").write_text(TEXT, newline="")
    entry = {"importer": "files", "source": str(tmp_path / "a"), "target": str(tmp_path / "a")}
    import_corpus(tmp_path / "table", "t", entry, ("en", "de"), shard_rows=2)
    return tmp_path / "table"


def test_round_trip(tmp_path, table, capsys):
    files = [tmp_path / "out.en.gz", tmp_path / "out.de.zst", tmp_path / "plain"]
    assert main(["export", str(table), "--source", str(files[0]), "--target", str(files[1])]) == 0
    assert "3 rows" in capsys.readouterr().out
    assert main(["export", str(table), "--source", str(files[2])]) == 0
    assert gzip.decompress(files[0].read_bytes()) == TEXT.encode()
    reader = zstandard.ZstdDecompressor().stream_reader(files[1].read_bytes())
    assert reader.read() == TEXT.encode()
    assert files[2].read_bytes() == TEXT.encode()


def test_compressions_that_are_read_only(tmp_path, table, capsys):
    path = tmp_path / "out.xz"
    assert main(["export", str(table), "--source", str(path)]) == 1
    line = f"weebill: {path}: text compressed as .xz is not written; use .gz or .zst, or plain text"
    assert capsys.readouterr().err.strip() == line
    assert not path.exists()


def test_dropped_rows_only_with_all(tmp_path):
    table = pa.table({"source": ["a", "b"], "dropped_by": [None, "empty"]})
    write_table(tmp_path / "t.parquet", table)
    for flags, expected in (([], "a\n"), (["--all"], "a\nb\n")):
        out = tmp_path / "out"
        assert main(["export", str(tmp_path / "t.parquet"), "--source", str(out), *flags]) == 0
        assert out.read_text() == expected


@pytest.mark.parametrize("name", ["out.en", "out.en.gz", "out.zst"])
def test_a_full_disk(tmp_path, capsys, name):
    texts = [str(number**9) for number in range(20_000)]
    write_table(tmp_path / "t.parquet", pa.table({"source": texts}))
    with mounted(tmp_path / "small", "size=32k") as place:
        assert main(["export", str(tmp_path / "t.parquet"), "--source", str(place / name)]) == 1
        assert capsys.readouterr().err.startswith(f"weebill: {place / name}: the disk is full;")
        assert not list(place.iterdir())


@pytest.mark.parametrize(
    "rows, message",
    [(["a", None], "row 1 has no source"), (["a\nb"], "row 0 has a line break")],
)
def test_rows_that_are_no_line(tmp_path, capsys, rows, message):
    write_table(tmp_path / "t.parquet", pa.table({"source": rows}))
    assert main(["export", str(tmp_path / "t.parquet"), "--source", str(tmp_path / "out.gz")]) == 1
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.parquet"]


def test_bad_requests(tmp_path, capsys, table):
    out = str(tmp_path / "out")
    assert main(["export", str(table)]) == 1
    assert main(["export", str(table), "--source", out, "--target", out]) == 1
    assert main(["export", str(tmp_path / "none"), "--source", out]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 3 and all(line.startswith("weebill: ") for line in errors)


def _refused(capsys, *arguments) -> str:
    """Return the one error line of an export."""
    assert main(["export", *map(str, arguments)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_places_that_take_no_file(tmp_path, capsys, table, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    shard = table / "part-00000.parquet"
    before = sorted(tmp_path.rglob("*")), shard.read_bytes()
    for place, message in [
        ("folder", "folder: a folder; name a file for --target"),
        ("./out", "./out: is the file of the other side"),
        (tmp_path / "folder/../out", "is the file of the other side"),
        (shard, "is the table itself"),
        ("a/x", "a: a file stands where a folder should"),
        ("a/x/y", "a/x: a file stands where a folder should"),
        ("out.xz", "out.xz: text compressed as .xz"),
    ]:
        assert message in _refused(capsys, table, "--source", "out", "--target", place)
        assert (sorted(tmp_path.rglob("*")), shard.read_bytes()) == before


def test_a_column_that_is_no_text(tmp_path, capsys):
    write_table(tmp_path / "t.parquet", pa.table({"source": ["a"], "target": [1]}))
    sides = ["--source", tmp_path / "a", "--target", tmp_path / "b"]
    line = _refused(capsys, tmp_path / "t.parquet", *sides)
    assert "t.parquet: column 'target' holds int64, not text" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.parquet"]


def test_a_lost_line_is_noticed(tmp_path, table, monkeypatch):
    from weebill.corpus import export

    monkeypatch.setattr(export, "_count_lines", lambda *a: 2)
    with pytest.raises(InputError, match="2 lines were written for 3 rows"):
        export.export_text(table, {"source": tmp_path / "out"})
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="needs a folder where no file can be made"
)
def test_places_where_no_file_can_be_made(tmp_path, table, capsys):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for place, told in (
        (tmp_path / "loop", "loop: a symbolic link that leads to itself"),
        ("/proc/text", "/proc: no file can be made here"),
    ):
        assert main(["export", str(table), "--source", str(place)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("weebill: ") and told in line
