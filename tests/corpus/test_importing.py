"""The lock file of sources detects changes; tests/corpus/test_importers.py imports corpora."""

import hashlib
import io
import json
import tracemalloc
import zipfile
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weebill.corpus.cleaning.clean import Cleaning, clean_corpus
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.importing import _licence_in, import_corpus, locked_places, write_lock
from weebill.corpus.sources import Places
from weebill.corpus.table import read_batches, read_columns
from weebill.errors import InputError
from weebill.files import read_json
from weebill.text_files import LONGEST_LINE

PAIR = ("en", "de")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _archive(**members: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "."), text)
    return data.getvalue()


@pytest.fixture
def experiment(tmp_path, site, monkeypatch):
    """Return entries of a corpus of OPUS, one of files and a validation set; and the archive of OPUS."""
    address = site.address + "/OPUS-{name}/{version}/moses/{first}-{second}.txt.zip"
    monkeypatch.setattr("weebill.corpus.importers.opus.OPUS_ZIP", address)
    body = _archive(X__de="Ja\n", X__en="Yes\n", LICENSE="\n CC BY 4.0 \nand so on")
    site.add("/OPUS-X/v2/moses/de-en.txt.zip", body)
    for side in PAIR:
        (tmp_path / f"a.{side}").write_text("a\n")
    files = {"importer": "files", **dict(zip(("source", "target"), _paths(tmp_path), strict=True))}
    opus = {"importer": "opus", "name": "X", "version": "v2"}
    embedded = {"importer": "tatoeba", "pairs": 3}
    entries = [
        ("corpora.x", opus, None),
        ("corpora.a", files, None),
        ("validation", embedded, None),
    ]
    return entries, body


def test_a_licence_is_read_in_part(tmp_path):
    """A licence of 64 MiB of zeros takes some KiB in the archive."""
    path = tmp_path / "a.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("LICENCE", "w") as file,
    ):
        file.write(b"\nCC0" + b" " * 300 + b"\n")
        for _ in range(64):
            file.write(bytes(1 << 20))
    tracemalloc.start()
    assert _licence_in(path) == "CC0"
    assert tracemalloc.get_traced_memory()[1] < 1 << 22
    tracemalloc.stop()


@pytest.mark.parametrize("fault", ["text", "method", "encrypted", "name", "place"])
def test_a_damaged_licence_names_its_archive(tmp_path, fault):
    body = bytearray(_archive(a__en="a\n", LICENSE="CC BY 4.0\n"))
    entry = body.rindex(b"PK\x01\x02")  # the licence's entry in the directory
    if fault == "text":
        body[body.index(b"CC BY")] ^= 1
    elif fault == "method":
        body[entry + 10] = 97
    elif fault == "encrypted":
        body[entry + 8] |= 1
    elif fault == "name":
        body[entry + 9] |= 8  # flag for UTF-8
        body[entry + 46] = 0x80
    else:
        body[entry + 42 : entry + 46] = b"\xff\xff\xff\x00"
    (tmp_path / "a.zip").write_bytes(body)
    with pytest.raises(
        InputError, match=r"a\.zip: damaged or truncated in its licence \("
    ) as caught:
        _licence_in(tmp_path / "a.zip")
    assert "\n" not in str(caught.value)


def _paths(folder) -> list[str]:
    return [str(folder / f"a.{side}") for side in PAIR]


def test_the_lock_tells_what_was_read(tmp_path, site, places, experiment):
    entries, body = experiment
    write_lock(tmp_path / "lock.json", entries, PAIR, places)
    sources = read_json(tmp_path / "lock.json")["sources"]
    assert list(sources) == ["corpora.a", "corpora.x"]
    [record] = sources["corpora.x"]
    assert len(record.pop("fetched")) == len("2026-11-22")
    assert record == {
        "name": "X",
        "version": "v2",
        "place": f"{site.address}/OPUS-X/v2/moses/de-en.txt.zip",
        "sha256": sha256(body),
        "bytes": len(body),
        "licence": "CC BY 4.0",
    }
    source, target = _paths(tmp_path)
    hashes = {record["place"]: record["sha256"] for record in sources["corpora.a"]}
    assert hashes == {source: sha256(b"a\n"), target: sha256(b"a\n")}


def test_a_second_run_writes_the_same_and_finds_what_changed(tmp_path, site, places, experiment):
    entries, _ = experiment
    lock = tmp_path / "lock.json"
    write_lock(lock, entries, PAIR, places)
    first = lock.read_bytes()
    write_lock(lock, entries, PAIR, places)
    assert lock.read_bytes() == first and len(site.seen) == 1

    (tmp_path / "a.de").write_text("b\n")
    with pytest.raises(
        InputError, match=r"corpora\.a: .*a\.de: changed since.*remove .*lock\.json and"
    ):
        write_lock(lock, entries, PAIR, places)
    (tmp_path / "a.de").write_text("a\n")
    site.files["/OPUS-X/v2/moses/de-en.txt.zip"] = _archive(X__de="Nein\n", X__en="No\n")
    other = Places(cache=str(tmp_path / "other"))
    with pytest.raises(InputError, match=r"corpora\.x: .*de-en\.txt\.zip: changed since"):
        write_lock(lock, entries, PAIR, other)
    assert lock.read_bytes() == first
    lock.unlink()
    write_lock(lock, entries, PAIR, other)  # the advised remedy
    assert lock.read_bytes() != first


def test_corpora_come_and_go(tmp_path, places, experiment):
    entries, _ = experiment
    lock = tmp_path / "lock.json"
    write_lock(lock, entries[:1], PAIR, places)
    write_lock(lock, entries[1:], PAIR, places)
    assert list(read_json(lock)["sources"]) == ["corpora.a"]


def test_a_damaged_lock_is_named(tmp_path, places):
    (tmp_path / "lock.json").write_text(json.dumps(["x"]))
    with pytest.raises(InputError, match=r"lock\.json: no lock file"):
        locked_places(tmp_path / "lock.json", places)


def test_an_archive_whose_licence_cannot_be_read(tmp_path, site, places, experiment):
    entries, body = experiment
    begin, central = body.index(b"PK\3\4", body.index(b"CC BY") - 80), body.rindex(b"PK\1\2")
    damaged = body.replace(b"CC BY 4.0", b"CC BY 4.1")  # the checksum is now wrong
    method = body[: central + 10] + b"\x63" + body[central + 11 :]
    method = method[: begin + 8] + b"\x63" + method[begin + 9 :]
    locked = body[: central + 8] + b"\1" + body[central + 9 :]
    locked = locked[: begin + 6] + b"\1" + locked[begin + 7 :]
    for number, (archive, cause) in enumerate(
        [(damaged, "Bad CRC"), (method, "compression"), (locked, "encrypted")]
    ):
        site.add("/OPUS-X/v2/moses/de-en.txt.zip", archive)
        here = replace(places, cache=tmp_path / f"cache{number}")
        with pytest.raises(InputError, match=rf"damaged or truncated in its licence \(.*{cause}"):
            write_lock(tmp_path / "lock.json", entries, PAIR, here)


LONG = "the small bird sings " * (LONGEST_LINE // 20)


def _long_lines(folder, name: str) -> dict:
    """Return an entry of three pairs; the second pair has a line that is too long."""
    pairs = [
        ("A bird sings.", "Ein Vogel singt."),
        (LONG, "Ein Vogel."),
        ("Two cats sleep.", "Zwei Katzen schlafen."),
    ]
    if name == "files":
        for side, texts in zip(PAIR, zip(*pairs, strict=True), strict=True):
            (folder / f"a.{side}").write_text("".join(f"{text}\n" for text in texts))
        return dict(zip(("source", "target"), _paths(folder), strict=True))
    if name == "table":
        (folder / "a.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs))
        return {"table": str(folder / "a.tsv"), "columns": {"source": 0, "target": 1}}
    rows = [dict(zip(PAIR, pair, strict=True)) for pair in pairs]
    if name == "json":
        (folder / "train.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), folder / "train.parquet")
    return {
        "importer": "hugging_face",
        "folder": str(folder),
        "source_field": "en",
        "target_field": "de",
    }


@pytest.mark.parametrize("name", ["files", "table", "json", "parquet"])
def test_a_line_too_long_to_read_drops_its_row(tmp_path, name, caplog):
    entry = {"importer": "files", **_long_lines(tmp_path, name)}
    import_corpus(tmp_path / "imported", "a", entry, PAIR, shard_rows=9)
    assert any(
        ":2: more than 1,048,576 bytes" in line and "too_long" in line for line in caplog.messages
    )
    cleaning = Cleaning(rules=Rules(disabled=("too_long", "duplicate")))
    clean_corpus(tmp_path / "imported", tmp_path / "cleaned", PAIR, cleaning)
    columns = ["source", "row", "dropped_by"]
    rows = read_columns(tmp_path / "cleaned", columns, kept=False).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("A bird sings.", 0, None),
        ("", 1, "too_long"),
        ("Two cats sleep.", 2, None),
    ]
    with pytest.raises(InputError, match=r"corpus 'a': .*:2: more than"):
        import_corpus(tmp_path / "test.parquet", "a", entry, PAIR)
    assert not (tmp_path / "test.parquet").exists()


def test_batches_of_long_lines_have_few_rows(tmp_path):
    """Thirty lines of one megabyte are read and written a few at a time."""
    for side in PAIR:
        (tmp_path / f"a.{side}").write_text(f"{'x' * (LONGEST_LINE // 2)}\n" * 30)
    entry = {"importer": "files", **dict(zip(("source", "target"), _paths(tmp_path), strict=True))}
    import_corpus(tmp_path / "imported", "a", entry, PAIR, shard_rows=100)
    [shard] = (tmp_path / "imported").iterdir()
    groups = pq.ParquetFile(shard).metadata
    assert max(groups.row_group(n).num_rows for n in range(groups.num_row_groups)) <= 8
    sizes = [batch.num_rows for batch in read_batches(tmp_path / "imported", rows=4096)]
    assert sum(sizes) == 30 and max(sizes) <= 8
