"""Importers: tables have the rows of the files, and bad input gives one line with a remedy."""

import gzip
import hashlib
import lzma
from pathlib import Path

import pytest
import zstandard

from weebill.corpus.importers.entries import IMPORTERS, importer_from
from weebill.corpus.importers.inputs import local_inputs, reads_files
from weebill.corpus.importing import import_corpus
from weebill.corpus.sources import Places
from weebill.corpus.table import count_rows, read_columns, shard_paths
from weebill.corpus.tatoeba import read_pairs
from weebill.errors import InputError

PAIR = ("en", "de")


def _rows(path, *columns):
    return [tuple(row.values()) for row in read_columns(path, columns, kept=False).to_pylist()]


def _write(path, data: bytes):
    if path.suffix == ".gz":
        data = gzip.compress(data)
    elif path.suffix == ".xz":
        data = lzma.compress(data, preset=0)
    elif path.suffix == ".zst":
        data = zstandard.compress(data)
    path.write_bytes(data)
    return str(path)


def _files(folder, source: bytes, target: bytes, suffix: str = "", **keys):
    return {
        "importer": "files",
        "source": _write(folder / f"a.en{suffix}", source),
        "target": _write(folder / f"a.de{suffix}", target),
        **keys,
    }


def _fails(folder, entry, *parts, **options):
    with pytest.raises(InputError) as caught:
        import_corpus(folder / "out", "news", entry, PAIR, **options)
    message = str(caught.value).replace(str(folder), "")  # has the test's name
    assert "\n" not in message
    for part in ("corpus 'news'", *parts):
        assert part in message
    assert not (folder / "out").exists() and not list(folder.glob(".*"))


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_pair_of_files(tmp_path, suffix):
    # U+0085 and U+2028 end lines for some programs; a corpus is split at "\n" alone.
    source, target = "Hello\nTwo\x85\u2028lines\n", "Hallo\nZwei\n"
    entry = _files(tmp_path, source.encode(), target.encode(), suffix)
    rows = import_corpus(tmp_path / "out", "news", entry, PAIR, shard_rows=1)
    assert rows == 2
    assert len(shard_paths(tmp_path / "out")) == 2
    assert _rows(tmp_path / "out", "source", "target", "corpus", "row", "dropped_by") == [
        ("Hello", "Hallo", "news", 0, None),
        ("Two\x85\u2028lines", "Zwei", "news", 1, None),
    ]


def test_last_line_without_newline_and_empty_lines_count(tmp_path):
    entry = _files(tmp_path, b"a\n\nc", b"x\n\nz\n")
    assert import_corpus(tmp_path / "out.parquet", "news", entry, PAIR) == 3
    assert _rows(tmp_path / "out.parquet", "source") == [("a",), ("",), ("c",)]


def test_some_lines_of_the_files(tmp_path):
    entry = _files(tmp_path, b"a\nb\nc\nd\n", b"w\nx\ny\nz\n", lines={"first": 2, "last": 3})
    import_corpus(tmp_path / "out.parquet", "news", entry, PAIR)
    assert _rows(tmp_path / "out.parquet", "source", "target", "row") == [
        ("b", "x", 0),
        ("c", "y", 1),
    ]
    alone = {"importer": "files", "target": entry["target"], "lines": {"first": 4, "last": 4}}
    import_corpus(tmp_path / "out", "news", alone, PAIR, monolingual="target")
    assert _rows(tmp_path / "out", "target") == [("z",)]
    rest = entry | {"lines": {"first": 3}}
    import_corpus(tmp_path / "rest.parquet", "news", rest, PAIR)
    assert _rows(tmp_path / "rest.parquet", "source") == [("c",), ("d",)]
    _fails(tmp_path / "c", entry | {"lines": {"first": 2, "last": 5}}, "4 lines", "5th")
    _fails(tmp_path / "c", entry | {"lines": {"first": 5}}, "4 lines", "5th")
    _fails(tmp_path / "c", entry | {"lines": {"first": 3, "last": 2}}, "from 3 to 2 are none")
    unequal = _files(tmp_path, b"a\nb\nc\nd\n", b"w\nx\ny\n", lines={"last": 2})
    _fails(tmp_path / "c", unequal, "has 4 lines and", "has 3")
    # From a single file, nothing after the taken lines is read.
    damaged = _write(tmp_path / "d.tsv", b"a\tw\nb\tx\nc\xff")
    table = {"importer": "files", "table": damaged, "columns": {"source": 0, "target": 1}}
    for number, side in enumerate([None, "source"]):
        out = tmp_path / f"d{number}.parquet"
        assert import_corpus(out, "news", {**table, "lines": {"last": 2}}, PAIR, side) == 2


def test_table_columns(tmp_path):
    path = _write(tmp_path / "x.tsv.gz", b"0.5\tEins\tOne\n0.1\tZwei\tTwo\n")
    entry = {"importer": "files", "table": path, "columns": {"source": 2, "target": 1}}
    import_corpus(tmp_path / "out.parquet", "news", entry, PAIR)
    assert _rows(tmp_path / "out.parquet", "source", "target") == [("One", "Eins"), ("Two", "Zwei")]


def test_monolingual_has_no_target(tmp_path):
    path = _write(tmp_path / "a.en", b"One\nTwo\n")
    entry = {"importer": "files", "use": "monolingual", "source": path}
    import_corpus(tmp_path / "out", "news", entry, PAIR, monolingual="source", shard_rows=10)
    assert _rows(tmp_path / "out", "source", "target") == [("One", None), ("Two", None)]


def test_a_target_side_alone(tmp_path):
    path = _write(tmp_path / "x.tsv", b"Eins\tOne\nZwei\tTwo\n")
    for number, entry in enumerate(
        [
            {"importer": "files", "target": _write(tmp_path / "a.de", b"Eins\nZwei\n")},
            {"importer": "files", "table": path, "columns": {"target": 0}},
        ]
    ):
        entry["use"] = "monolingual-target"
        out = tmp_path / f"out{number}"
        import_corpus(out, "news", entry, PAIR, monolingual="target", shard_rows=10)
        assert _rows(out, "source", "target") == [(None, "Eins"), (None, "Zwei")]
    embedded = {"importer": "tatoeba", "pairs": 5}
    import_corpus(tmp_path / "pairs", "tatoeba", embedded, PAIR, shard_rows=10)
    import_corpus(tmp_path / "german", "tatoeba", embedded, PAIR, "target", shard_rows=10)
    german = _rows(tmp_path / "german", "source", "target")
    assert german == [(None, row[0]) for row in _rows(tmp_path / "pairs", "target")]


def test_several_entries_follow_each_other(tmp_path):
    first = _files(tmp_path, b"a\n", b"x\n")
    (tmp_path / "second").mkdir()
    second = _files(tmp_path / "second", b"b\nc\n", b"y\nz\n")
    import_corpus(tmp_path / "out.parquet", "validation", [first, second], PAIR)
    assert _rows(tmp_path / "out.parquet", "source", "row") == [("a", 0), ("b", 0), ("c", 1)]


def test_different_line_counts(tmp_path):
    long, short = b"x\n" * 20_001, b"y\n" * 20_000
    _fails(tmp_path, _files(tmp_path, long, short), "a.en has 20,001 lines", "a.de has 20,000")
    _fails(tmp_path, _files(tmp_path, short, long), "a.en has 20,000 lines", "a.de has 20,001")


def test_invalid_utf8_names_the_line(tmp_path):
    _fails(tmp_path, _files(tmp_path, b"a\nM\xfcnchen\n", b"x\ny\n"), "a.en:2", "UTF-8", "iconv")


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_empty_file(tmp_path, suffix):
    entry = _files(tmp_path, b"", b"", suffix)
    _fails(tmp_path, entry, "empty file")
    Path(entry["source"]).write_bytes(b"")
    _fails(tmp_path, entry, "empty file")


def test_other_archives_are_named(tmp_path):
    entry = _files(tmp_path, b"a\n", b"x\n", ".bz2")
    _fails(tmp_path, entry, "a.en.bz2: text compressed as .bz2", "use .gz, .xz or .zst")


@pytest.mark.parametrize("character, word", [(b"\x00", "NUL"), (b"\t", "tab")])
def test_control_characters_are_an_error_or_replaced(tmp_path, character, word, caplog):
    lines = b"a\nb" + character + b"c\n"
    entry = _files(tmp_path, b"x\ny\n", lines)
    _fails(tmp_path, entry, "a.de:2", word, "control_characters: replace")
    caplog.set_level("INFO")
    entry["control_characters"] = "replace"
    import_corpus(tmp_path / "out.parquet", "news", entry, PAIR)
    assert _rows(tmp_path / "out.parquet", "target") == [("a",), ("b c",)]
    assert "replaced by spaces in 1 lines" in caplog.text


def test_nul_in_a_table(tmp_path):
    path = _write(tmp_path / "x.tsv", b"a\tb\nc\x00\td\n")
    entry = {"importer": "files", "table": path, "columns": {"source": 0, "target": 1}}
    _fails(tmp_path, entry, "x.tsv:2", "NUL")


def test_table_with_too_few_columns(tmp_path):
    path = _write(tmp_path / "x.tsv", b"a\tb\nc\n")
    entry = {"importer": "files", "table": path, "columns": {"source": 0, "target": 1}}
    _fails(tmp_path, entry, "x.tsv:2", "1 tab-separated columns, expected at least 2")


def test_missing_file(tmp_path):
    entry = {"importer": "files", "source": "no/a.en.gz", "target": "no/a.de.gz"}
    _fails(tmp_path, entry, "no/a.en.gz: no such file")


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
@pytest.mark.parametrize("monolingual", [None, "source"])
def test_truncated_archive(tmp_path, suffix, monolingual):
    numbers = (str(number).encode() for number in range(20_000))
    text = b"".join(hashlib.sha256(number).hexdigest().encode() + b"\n" for number in numbers)
    entry = _files(tmp_path, text, text, suffix)
    for side in ("source", "target"):  # both, for equal lengths
        path = Path(entry[side])
        assert path.stat().st_size > 5 * 2**17  # several blocks
        path.write_bytes(path.read_bytes()[: -(2**17)])
    message = f"a.en{suffix}: damaged or truncated after line"
    _fails(tmp_path, entry, message, monolingual=monolingual)


def test_not_an_archive(tmp_path):
    entry = _files(tmp_path, b"a\n", b"b\n", ".gz")
    (tmp_path / "a.en.gz").write_bytes(b"plain text\n")
    _fails(tmp_path, entry, "a.en.gz", "damaged")


def test_checksums(tmp_path):
    entry = _files(tmp_path, b"a\n", b"x\n")
    right = hashlib.sha256(b"a\n").hexdigest()
    import_corpus(tmp_path / "ok.parquet", "news", {**entry, "sha256": {"source": right}}, PAIR)
    assert count_rows(tmp_path / "ok.parquet") == 1
    wrong = {**entry, "sha256": {"source": right, "target": "0" * 64}}
    _fails(tmp_path, wrong, "a.de", f"expected {'0' * 64}")


def test_keys_that_do_not_fit_together(tmp_path):
    _fails(tmp_path, {"importer": "files"}, "either `source`", "or `table`")
    _fails(tmp_path, {"importer": "files", "target": "a.de"}, "parallel text needs `source`")
    _fails(tmp_path, {"importer": "files", "sorce": "a.en"}, "did you mean 'source'?")


def test_sacrebleu_reads_its_own_files(tmp_path, monkeypatch):
    import sacrebleu

    class TestSet:
        langpairs = {"en-de": None}  # noqa: RUF012

    entry = _files(tmp_path, b"Hello\n", b"Hallo\n")
    monkeypatch.setitem(sacrebleu.DATASETS, "tiny", TestSet())
    monkeypatch.setattr(sacrebleu, "get_source_file", lambda *a: entry["source"])
    monkeypatch.setattr(sacrebleu, "get_reference_files", lambda *a: [entry["target"], "other"])
    import_corpus(tmp_path / "out.parquet", "t", {"importer": "sacrebleu", "name": "tiny"}, PAIR)
    assert _rows(tmp_path / "out.parquet", "source", "target") == [("Hello", "Hallo")]


def test_sacrebleu_errors(tmp_path, monkeypatch):
    import urllib.error

    import sacrebleu

    entry = {"importer": "sacrebleu", "name": "wmt19"}
    _fails(tmp_path, {**entry, "name": "wtm19"}, "did you mean 'wmt19'?")
    with pytest.raises(InputError, match=r"wmt19 has no en-eo; it has .*en-de"):
        import_corpus(tmp_path / "out", "news", entry, ("en", "eo"))

    def offline(*args):
        raise urllib.error.URLError("no network")

    monkeypatch.setattr(sacrebleu, "get_source_file", offline)
    _fails(tmp_path, entry, "cannot fetch wmt19 en-de", "no network", "SACREBLEU")


def test_a_part_of_the_embedded_pairs(tmp_path):
    entry = {"importer": "tatoeba", "pairs": 3, "skip": 5}
    import_corpus(tmp_path / "out.parquet", "demo", entry, PAIR)
    assert _rows(tmp_path / "out.parquet", "source", "target") == read_pairs(8)[5:]
    assert not local_inputs(entry) and not reads_files(entry)
    with pytest.raises(InputError, match="en-de, not fr-de"):
        import_corpus(tmp_path / "no", "demo", entry, ("fr", "de"))
    for pairs, skip in ((0, 0), (1, -1), (2, 19_999)):
        with pytest.raises(InputError, match=f"pairs is {pairs} after {skip} to skip.*20,000"):
            importer_from({**entry, "pairs": pairs, "skip": skip})


def test_unknown_importers_and_keys():
    with pytest.raises(InputError, match="did you mean 'tatoeba'"):
        importer_from({"importer": "tatoba"})
    for name in IMPORTERS:
        with pytest.raises(InputError, match="unknown key 'sorce'"):
            importer_from({"importer": name, "sorce": "x"})
    with pytest.raises(InputError, match=r"importer sacrebleu.*name"):
        importer_from({"importer": "sacrebleu"})


def test_keys_of_files_follow_from_their_type():
    """The configuration finds files of these keys, measures them, and compares them with other entries' files."""
    keys = {name: kind.file_keys() for name, kind in IMPORTERS.items()}
    assert keys["files"] == ["source", "target", "table"]
    assert keys["hugging_face"] == ["folder"]
    assert not any(keys[name] for name in ("mtdata", "opus", "sacrebleu", "tatoeba"))
    local, far = "a/./b/../x.en", "https://a.org/x/../y.en"
    entry = {"importer": "files", "source": local, "target": far}
    assert IMPORTERS["files"].origins(entry) == {"'a/x.en'", f"'{far}'"}


def test_importers_that_know_languages_say_so():
    """A text of `origins` then needs its language."""
    known = {name for name, kind in IMPORTERS.items() if kind.by_language}
    assert known == {name for name, kind in IMPORTERS.items() if "unpublished" in vars(kind)}


def test_files_tell_the_language_in_which_each_pair_was_first_written(tmp_path):
    (tmp_path / "codes").write_text("\ufeffen-GB\r\n\r\nde\r\n")  # as Windows has it
    entry = {"importer": "files", "source": "a.en", "target": "a.de"}
    importer = importer_from({**entry, "origlang": str(tmp_path / "codes")})
    assert importer.original_languages(("en", "de"), Places()) == ["en", "", "de"]
    assert importer.local_files() == ["a.en", "a.de", str(tmp_path / "codes")]
    some = importer_from({**entry, "origlang": str(tmp_path / "codes"), "lines": {"first": 2}})
    assert some.original_languages(PAIR, Places()) == ["", "de"]
    pairs = _files(tmp_path, b"a\nb\n", b"x\ny\n", origlang=str(tmp_path / "codes"))
    _fails(tmp_path, pairs, "codes: has 3 lines for 2 pairs of ")
    import_corpus(tmp_path / "out.parquet", "news", {**pairs, "lines": {"last": 1}}, PAIR)
    with pytest.raises(InputError, match=r"`evaluation\.original_languages` needs `origlang`"):
        importer_from(entry).original_languages(("en", "de"), Places())


def test_multi30k_with_its_tab(tmp_path, real_text):
    entry = {
        "importer": "files",
        "source": str(real_text("multi30k/train.en")),
        "target": str(real_text("multi30k/train.de")),
    }
    _fails(tmp_path, entry, "train.de:", "a tab inside the line")
    entry["control_characters"] = "replace"
    assert import_corpus(tmp_path / "ok", "m", entry, PAIR, shard_rows=10_000) == 29_000
    assert [count_rows(shard) for shard in shard_paths(tmp_path / "ok")] == [10_000, 10_000, 9_000]
