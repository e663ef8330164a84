"""Tables are read as written, whole or not at all, and without rows that a filter dropped."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weebill.corpus.table import (
    SCHEMA,
    ShardWriter,
    TableWriter,
    count_rows,
    read_batches,
    read_columns,
    reverse,
    shard_paths,
    write_table,
)
from weebill.errors import InputError


def _table(rows: int) -> pa.Table:
    return pa.table(
        {
            "source": [f"source {i}" for i in range(rows)],
            "target": [f"target {i}" for i in range(rows)],
            "corpus": ["c"] * rows,
            "row": list(range(rows)),
            "dropped_by": ["rule" if i % 3 == 0 else None for i in range(rows)],
        },
        schema=SCHEMA,
    )


def test_file_round_trip_and_kept(tmp_path):
    write_table(tmp_path / "t.parquet", _table(10))
    kept = read_columns(tmp_path / "t.parquet", ["row"])["row"].to_pylist()
    assert kept == [1, 2, 4, 5, 7, 8]
    assert count_rows(tmp_path / "t.parquet") == 6
    assert count_rows(tmp_path / "t.parquet", kept=False) == 10
    assert pa.Table.from_batches(read_batches(tmp_path / "t.parquet", kept=False)) == _table(10)


def test_shards_hold_their_size_and_keep_the_order(tmp_path):
    with ShardWriter(tmp_path / "shards", SCHEMA, shard_rows=4) as writer:
        writer.write(_table(9))
        writer.write(_table(2))
    assert [count_rows(p, kept=False) for p in shard_paths(tmp_path / "shards")] == [4, 4, 3]
    rows = read_columns(tmp_path / "shards", ["row"], kept=False)["row"].to_pylist()
    assert rows == [*range(9), 0, 1]
    assert all(b.num_rows <= 2 for b in read_batches(tmp_path / "shards", rows=2))


def test_only_long_rows_are_read_in_small_batches(tmp_path):
    texts = [*["short"] * 6000, *["long" * 50_000] * 60, *["short"] * 6000]
    with TableWriter(tmp_path / "t", pa.schema({"source": pa.string()})) as writer:
        for start, end in ((0, 6000), (6000, 6060), (6060, 12_060)):
            writer.write(pa.table({"source": texts[start:end]}))
    batches = list(read_batches(tmp_path / "t", rows=4000))
    assert [text for batch in batches for text in batch["source"].to_pylist()] == texts
    assert max(batch.nbytes for batch in batches) < 4000 * 2048 * 1.1
    assert len(batches) < 8


def test_empty_table_keeps_its_schema(tmp_path):
    with ShardWriter(tmp_path / "empty", SCHEMA) as writer:
        pass
    assert writer.rows == 0
    assert read_columns(tmp_path / "empty", ["source"]).num_rows == 0


@pytest.mark.parametrize("make", [TableWriter, ShardWriter])
def test_a_failure_leaves_nothing(tmp_path, make):
    with pytest.raises(RuntimeError), make(tmp_path / "t", SCHEMA) as writer:
        writer.write(_table(3))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_bad_tables_are_one_clear_error(tmp_path):
    write_table(tmp_path / "t.parquet", _table(1))
    (tmp_path / "text.parquet").write_text("no table")
    (tmp_path / "empty").mkdir()
    for path, columns, message in [
        (tmp_path / "none.parquet", None, "no such table"),
        (tmp_path / "text.parquet", None, "not a Parquet file"),
        (tmp_path / "empty", None, r"no part-\*\.parquet"),
        (tmp_path / "t.parquet", ["sorce"], "did you mean 'source'"),
    ]:
        with pytest.raises(InputError, match=message):
            list(read_batches(path, columns))


def test_damage_anywhere_is_one_clear_error_or_harmless(tmp_path):
    path = tmp_path / "t.parquet"
    rng = random.Random(1)
    lines = ["".join(rng.choices("abcdefgh äöü", k=60)) for _ in range(300)]
    write_table(path, pa.table({"source": lines, "row": range(300)}))
    whole, noticed = path.read_bytes(), 0
    for _ in range(300):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            for batch in read_batches(path):
                batch.to_pylist()
        except InputError as error:
            assert "\n" not in str(error) and "t.parquet: " in str(error)
            noticed += 1
    assert noticed > 100


def test_bytes_that_are_no_text(tmp_path):
    column = pa.array([b"M\xfcnchen"]).view(pa.string())
    pq.write_table(pa.table({"source": column}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet: a damaged Parquet file .*UTF8"):
        list(read_batches(tmp_path / "t.parquet"))


def test_an_error_of_the_disk_stays_one(tmp_path, monkeypatch):
    write_table(tmp_path / "t.parquet", _table(1))
    monkeypatch.setattr(pq, "ParquetFile", lambda path: (path / "none").stat())
    with pytest.raises(NotADirectoryError):
        list(read_batches(tmp_path / "t.parquet"))


def test_reverse(tmp_path, as_table):
    table = as_table([("a", "x"), ("b", "y"), ("c", "z")])
    dropped = pa.array([None, "urls", None], pa.string())
    write_table(tmp_path / "one", table.set_column(4, "dropped_by", dropped))
    write_table(tmp_path / "two", as_table([("d", "w")]))
    reverse([tmp_path / "one", tmp_path / "two"], tmp_path / "out")
    rows = read_columns(tmp_path / "out", ["source", "target"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [("x", "a"), ("z", "c"), ("w", "d")]
