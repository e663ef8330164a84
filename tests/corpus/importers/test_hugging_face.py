"""Data sets with the hub's layout: Parquet and JSON Lines, in a folder and on a local hub."""

import gzip
import hashlib
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weebill.corpus.importers.hugging_face import HuggingFaceImporter, split_files
from weebill.corpus.importers.inputs import local_inputs
from weebill.corpus.importing import import_corpus
from weebill.corpus.sources import Places
from weebill.corpus.table import read_columns
from weebill.errors import InputError

PAIR = ("en", "de")
ROWS = [("One", "Eins"), ("Two\u2028more", "Zwei"), ("Three", "Drei")]
COMMIT = "0123456789" * 4
FIELDS = {"source_field": "translation.en", "target_field": "translation.de"}


def _parquet(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    nested = [{"id": 7, "translation": {"en": source, "de": target}} for source, target in rows]
    pq.write_table(pa.Table.from_pylist(nested), path)


def _imported(tmp_path, entry, places=None, **options):
    import_corpus(tmp_path / "out.parquet", "x", entry, PAIR, places=places, **options)
    table = read_columns(tmp_path / "out.parquet", ["source", "target"], kept=False)
    return [tuple(row.values()) for row in table.to_pylist()]


def _fails(tmp_path, entry, *parts, places=None):
    (tmp_path / "out.parquet").unlink(missing_ok=True)
    with pytest.raises(InputError) as caught:
        _imported(tmp_path, entry, places)
    for part in ("corpus 'x'", *parts):
        assert part in str(caught.value)
    assert "\n" not in str(caught.value) and not (tmp_path / "out.parquet").exists()


@pytest.fixture
def folder(tmp_path):
    """Write a data set with two training shards and a validation split; return the entry that reads it."""
    path = tmp_path / "wmt/tiny"
    _parquet(path / "de-en/train-00000-of-00002.parquet", ROWS[:2])
    _parquet(path / "de-en/train-00001-of-00002.parquet", ROWS[2:])
    _parquet(path / "de-en/validation-00000-of-00001.parquet", ROWS[:1])
    entry = {"importer": "hugging_face", "folder": str(path), "config": "de-en", **FIELDS}
    return path, entry


def test_shards_in_order_split_and_side(tmp_path, folder):
    _, entry = folder
    assert _imported(tmp_path, entry) == ROWS
    assert _imported(tmp_path, {**entry, "split": "validation"}) == ROWS[:1]
    one = {key: value for key, value in entry.items() if key != "target_field"}
    rows = _imported(tmp_path, one, monolingual="source")
    assert rows == [(source, None) for source, _ in ROWS]
    rows = _imported(tmp_path, entry, monolingual="target")
    assert rows == [(None, target) for _, target in ROWS]
    assert len(local_inputs(entry)) == 3  # Snakemake's inputs
    _fails(tmp_path, one, "parallel text needs `target_field`")


def test_json_lines(tmp_path):
    lines = "".join(json.dumps({"s": source, "t": target}) + "\n" for source, target in ROWS)
    (tmp_path / "set").mkdir()
    (tmp_path / "set/train.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    entry = {
        "importer": "hugging_face",
        "folder": str(tmp_path / "set"),
        "source_field": "s",
        "target_field": "t",
    }
    assert _imported(tmp_path, entry) == ROWS
    assert _imported(tmp_path, entry | {"lines": {"first": 2}}) == ROWS[1:]
    (tmp_path / "set/train.jsonl.gz").write_bytes(gzip.compress(lines.encode() + b"{x}\n"))
    _fails(tmp_path, entry, "train.jsonl.gz:4: not JSON")
    half = b'{"s": "half \\ud83d", "t": "x"}\n'
    (tmp_path / "set/train.jsonl.gz").write_bytes(gzip.compress(half))
    _fails(tmp_path, entry, "train.jsonl.gz:1: half a character")
    assert _imported(tmp_path, {**entry, "control_characters": "replace"}) == [("half  ", "x")]


def test_flattened_rows_have_names_with_dots(tmp_path, folder):
    path, entry = folder
    rows = [{"translation.en": source, "translation.de": target} for source, target in ROWS]
    for shard in sorted(path.rglob("train-*")):
        pq.write_table(pa.Table.from_pylist(rows), shard)
    assert _imported(tmp_path, entry) == ROWS * 2
    (tmp_path / "set").mkdir()
    (tmp_path / "set/train.json").write_text(json.dumps(rows))
    entry = {"importer": "hugging_face", "folder": str(tmp_path / "set"), **FIELDS}
    assert _imported(tmp_path, entry) == ROWS


def test_a_card_with_a_byte_order_mark_is_read(tmp_path, folder):
    path, entry = folder
    head = "configs: [{config_name: de-en, data_files: 'de-en/v*'}]"
    (path / "README.md").write_text(f"\ufeff---\r\n{head}\r\n---\r\n", encoding="utf-8")
    assert _imported(tmp_path, entry) == ROWS[:1]


def test_a_lost_shard_is_told(tmp_path, folder):
    path, entry = folder
    (path / "de-en/train-00000-of-00002.parquet").unlink()
    _fails(tmp_path, entry, "de-en/train-00000-of-00002.parquet is missing", "1 missing shards")


def test_rows_without_text(tmp_path, folder):
    path, entry = folder
    _parquet(path / "de-en/train-00001-of-00002.parquet", [("a", "b"), ("c", None)])
    _fails(tmp_path, entry, "train-00001-of-00002.parquet:2: found nothing, expected text")
    _fails(tmp_path, {**entry, "target_field": "translaton.de"}, "no column 'translaton'", "mean")
    _fails(tmp_path, {**entry, "target_field": "translation.fr"}, "parquet:1: found nothing")
    _parquet(path / "de-en/train-00001-of-00002.parquet", [("a\nb", "c\td")])
    _fails(tmp_path, entry, "train-00001-of-00002.parquet:1: a line break inside")
    rows = _imported(tmp_path, {**entry, "control_characters": "replace"})
    assert rows[2:] == [("a b", "c d")]


def test_bytes_that_are_not_utf_8(tmp_path, folder):
    path, entry = folder
    bad = pa.array([b"Z\xfcrich"], pa.binary()).view(pa.string())
    good = pa.array(["x"])
    table = pa.table({"translation": pa.StructArray.from_arrays([good, bad], ["en", "de"])})
    pq.write_table(table, path / "de-en/train-00001-of-00002.parquet")
    _fails(tmp_path, entry, "train-00001-of-00002.parquet", "damaged")


# YAML aliases that expand to 2^70 values.
LAUGHS = "a: &a0 [x]\n" + "\n".join(f"b{i}: &a{i + 1} [*a{i}, *a{i}]" for i in range(70))


@pytest.mark.parametrize("head", ["date: 2024-13-45", "a: [", "[" * 2000, "- a", LAUGHS])
def test_a_card_that_is_no_yaml(tmp_path, folder, head):
    path, entry = folder
    (path / "README.md").write_text(f"---\n{head}\n---\n")
    _fails(tmp_path, entry, "README.md: its YAML head")


@pytest.mark.parametrize(
    "configs",
    [
        "default",
        [5],
        [{"name": "default"}],
        [{"config_name": ["default"]}],
        [{"config_name": "default", "data_files": 5}],
        [{"config_name": "default", "data_files": [{"split": "train"}]}],
        [{"config_name": "default", "data_files": [{"path": "a.parquet"}]}],
    ],
)
def test_a_card_that_lists_files_in_another_way(configs):
    with pytest.raises(InputError, match=r"^n: `configs` in its card, README\.md, lists no files"):
        split_files(["a.parquet"], {"configs": configs}, None, "train", "n")


def test_files_that_the_card_names():
    files = ["data/a.parquet", "data/x/b.parquet", "more/c.jsonl", "README.md", "data/train.txt"]
    both = [{"split": "train", "path": "data/**"}, {"split": "test", "path": ["more/*.jsonl"]}]
    configs = [
        {"config_name": "big", "data_files": both},
        {"config_name": "s", "data_files": "data/*"},
        {"config_name": "few", "data_files": "[a-m][!b]*/?/[a-b].parquet"},
    ]
    card = {"configs": configs}
    assert split_files(files, card, "big", "train", "n") == ["data/a.parquet", "data/x/b.parquet"]
    assert split_files(files, card, "big", "test", "n") == ["more/c.jsonl"]
    assert split_files(files, card, "s", "train", "n") == ["data/a.parquet"]
    assert split_files(files, card, "few", "train", "n") == ["data/x/b.parquet"]
    for config, split, message in [
        (None, "train", "n: `config` is missing, expected one of big, s, few"),
        ("bg", "train", "no configuration 'bg'; did you mean 'big'"),
        ("big", "tset", "no split 'tset'; did you mean 'test'"),
    ]:
        with pytest.raises(InputError, match=message):
            split_files(files, card, config, split, "n")
    with pytest.raises(
        InputError, match=r"no file of split 'dev' in Parquet .*its files: README\.md"
    ):
        split_files(files, {}, None, "dev", "n")


@pytest.fixture
def hub(folder, site, monkeypatch):
    """Serve the data set on a local hub; return the entry that reads it there."""
    path, entry = folder
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", site.address)
    siblings = []
    for file in sorted(path.rglob("*.parquet")):
        body, name = file.read_bytes(), file.relative_to(path).as_posix()
        site.add(f"/datasets/wmt/tiny/resolve/{COMMIT}/{name}", body)
        lfs = {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body), "pointerSize": 130}
        siblings.append({"rfilename": name, "size": len(body), "lfs": lfs})
    info = {
        "id": "wmt/tiny",
        "sha": COMMIT,
        "siblings": siblings,
        "cardData": {"license": "cc0-1.0"},
    }
    site.add(f"/api/datasets/wmt/tiny/revision/{COMMIT}", json.dumps(info).encode())
    del entry["folder"]
    return {**entry, "name": "wmt/tiny", "revision": COMMIT}


def test_from_the_hub(tmp_path, hub, site, places):
    assert _imported(tmp_path, hub, places) == ROWS
    asked = [path for path, _ in site.seen if "/datasets/" in path]
    assert len(asked) == 3  # the listing, two shards
    (kept,) = places.cache_path.glob("hugging_face/*.json")
    whole = kept.read_bytes()
    for damaged in (b"", whole[:20], b"{}", b"\xff"):
        kept.write_bytes(damaged)
        assert _imported(tmp_path, hub, places) == ROWS and kept.read_bytes() == whole
    site.files = {}
    assert _imported(tmp_path, hub, places) == ROWS
    keys = {key: value for key, value in hub.items() if key != "importer"}
    first, _ = HuggingFaceImporter(**keys).sources(PAIR, None, places)
    assert (first.licence, first.version) == ("cc0-1.0", COMMIT)
    assert len(first.sha256) == 64


def test_without_the_hub(tmp_path, hub, site, places):
    site.files = {key: body for key, body in site.files.items() if "/api/" not in key}
    _fails(
        tmp_path, hub, "wmt/tiny: the Hugging Face hub cannot be asked", "local_dir", places=places
    )
    own = Places(str(tmp_path), str(tmp_path / "cache"))  # has wmt/tiny
    assert _imported(tmp_path, hub, own) == ROWS
    assert not [path for path, _ in site.seen if "resolve" in path]


def test_name_or_folder():
    with pytest.raises(InputError, match="either `name`"):
        HuggingFaceImporter(source_field="a", target_field="b")
    with pytest.raises(InputError, match="needs `revision`"):
        HuggingFaceImporter(source_field="a", target_field="b", name="wmt/wmt19")
