"""The cache of sentence vectors: size limit, several writers, damage, and other files."""

import logging
import pickle
import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.forking import fork
from weebill.errors import InputError
from weebill.metric.cache import APPLICATION, VERSION, Vector, VectorCache

WIDTH = 8


@pytest.fixture(autouse=True)
def syncs_return_at_once(monkeypatch):
    """Do not wait for the disk, as other tests: no test loses power."""
    connect = sqlite3.connect

    def quick(*arguments, **options):
        database = connect(*arguments, **options)
        database.execute("PRAGMA synchronous = OFF")
        return database

    monkeypatch.setattr(sqlite3, "connect", quick)


def vectors(names, width=WIDTH):
    return {
        name: Vector(np.full(width, index + 0.1, dtype=np.float32), index)
        for index, name in enumerate(names)
    }


@pytest.mark.parametrize("on_disk", [True, False])
def test_vectors_come_back(tmp_path, on_disk):
    cache = VectorCache(tmp_path / "new/vectors.sqlite" if on_disk else None)
    kept = vectors([f"Satz {n}" for n in range(1200)])
    cache.put("model", kept)
    if on_disk:
        cache.close()
        cache = VectorCache(tmp_path / "new/vectors.sqlite")
    found = cache.get("model", [*kept, "none"])
    assert found.keys() == kept.keys()
    for text, one in kept.items():
        np.testing.assert_array_equal(found[text].values, one.values)
        assert found[text].pieces == one.pieces
    assert cache.get("other model", list(kept)) == {}


def test_the_least_recently_used_go(tmp_path):
    path, largest = tmp_path / "vectors.sqlite", 300_000
    cache = VectorCache(path, max_bytes=largest)
    first, second = ([f"{kind} {n}" for n in range(10)] for kind in ("first", "second"))
    for names in (first, second):
        cache.put("model", vectors(names, width=1024))
    assert len(cache.get("model", first)) == 10  # now the others are the least recently used
    new, before = [], 0
    while len(cache) > before:
        before = len(cache)
        new.append(f"new {len(new)}")
        cache.put("model", vectors(new[-1:], width=1024))
    assert path.stat().st_size == pytest.approx(largest, rel=0.1)
    assert len(cache.get("model", [*first, *new])) == 10 + len(new)
    assert 0 < len(cache.get("model", second)) < 10


def test_a_smaller_bound_makes_the_file_smaller(tmp_path):
    path = tmp_path / "vectors.sqlite"
    names = [f"Satz {n}" for n in range(100)]
    cache = VectorCache(path)
    cache.put("model", vectors(names, width=1024))
    cache.get("model", names[:20])
    cache.close()
    assert path.stat().st_size > 400_000
    cache = VectorCache(path, max_bytes=200_000)
    assert path.stat().st_size <= 200_000
    assert len(cache.get("model", names[:20])) == 20 and len(cache) < 50


def test_a_full_file_is_not_rewritten_whenever_it_is_opened(tmp_path):
    path, bound = tmp_path / "vectors.sqlite", 200_000
    cache = VectorCache(path, max_bytes=bound)
    for number in range(120):
        cache.put("model", vectors([f"Satz {number}"], width=1024))
    cache.close()
    before = path.stat()
    assert bound < before.st_size < 1.1 * bound
    VectorCache(path, max_bytes=bound).close()
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def write(path, writer):
    """Write 200 vectors of this writer, and one that all writers share."""
    cache = VectorCache(path)
    for start in range(0, 200, 10):
        rows = {
            f"{writer} {n}": Vector(np.full(8, n, dtype=np.float32), n)
            for n in range(start, start + 10)
        }
        rows["shared"] = Vector(np.full(8, 7, dtype=np.float32), 7)
        cache.put("model", rows)
        assert len(cache.get("model", list(rows))) == 11


def test_several_writers(tmp_path):
    path = tmp_path / "vectors.sqlite"
    writers = [fork(write, path, number) for number in range(3)]
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    cache = VectorCache(path)
    assert len(cache) == 601
    for writer in range(3):
        found = cache.get("model", [f"{writer} {n}" for n in range(200)])
        assert all(found[f"{writer} {n}"].values[0] == n for n in range(200))


def test_a_full_disk_is_told(tmp_path):
    cache = VectorCache(tmp_path / "vectors.sqlite")
    cache.put("model", vectors(["kept"]))
    cache._database.execute("PRAGMA max_page_count = 20")  # SQLite's way to simulate a full disk
    many = vectors([f"Satz {n}" for n in range(50)], width=1024)
    with pytest.raises(InputError, match=r"vectors\.sqlite: .*disk is full"):
        cache.put("model", many)
    assert list(cache.get("model", ["kept", *many])) == ["kept"]
    cache._database.execute("PRAGMA max_page_count = 10000")
    cache.put("model", many)
    assert len(cache) == 51


def flipped(content, place, bit):
    damaged = bytearray(content)
    damaged[place] ^= 1 << bit
    return bytes(damaged)


def test_a_vector_with_a_flipped_bit_is_not_used(tmp_path):
    path, kept = tmp_path / "vectors.sqlite", vectors(["one", "two", "three"])
    cache = VectorCache(path)
    cache.put("model", kept)
    cache.close()
    whole, stored = path.read_bytes(), kept["two"].values.tobytes()
    assert whole.count(stored) == 1
    path.write_bytes(flipped(whole, whole.index(stored) + 5, 3))
    cache = VectorCache(path)
    assert cache.get("model", list(kept)).keys() == {"one", "three"}
    cache.put("model", {"two": kept["two"]})
    np.testing.assert_array_equal(
        cache.get("model", list(kept))["two"].values, kept["two"].values, strict=True
    )


def test_no_damage_gives_another_vector(tmp_path):
    """Bits are flipped anywhere in the file, also in keys and numbers of pieces."""
    path, kept = tmp_path / "vectors.sqlite", vectors([f"Satz {n}" for n in range(30)])
    cache = VectorCache(path)
    cache.put("model", kept)
    cache.close()
    whole, choice = path.read_bytes(), random.Random(1)
    used = [place for place, byte in enumerate(whole) if byte]  # most bytes of pages are unused
    lost = 0
    for _ in range(150):
        path.write_bytes(flipped(whole, choice.choice(used), choice.randrange(8)))
        try:
            cache = VectorCache(path)
            found = cache.get("model", list(kept))
            cache.close()
        except InputError as error:
            assert "delete" not in str(error)
            continue
        lost += len(found) < len(kept)
        for text, one in found.items():
            np.testing.assert_array_equal(one.values, kept[text].values)
            assert one.pieces == kept[text].pieces
    assert lost


def test_a_truncated_cache_is_named_as_ours(tmp_path):
    """The workflow names the file, so to name another is no remedy there."""
    path = tmp_path / "vectors.sqlite"
    cache = VectorCache(path)
    cache.put("model", vectors([f"Satz {n}" for n in range(300)]))
    cache.close()
    whole = path.read_bytes()
    for length in (100, 4096, len(whole) // 2):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"a damaged cache of .*; remove it and run again$"):
            VectorCache(path).get("model", ["Satz 1"])
    path.write_bytes(b"")
    assert VectorCache(path).get("model", ["Satz 1"]) == {}


def of_version(path, number):
    with sqlite3.connect(path) as database:
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {number}")
        database.execute("CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB, pieces, used)")
        database.execute("CREATE INDEX by_use ON vectors (used)")
        database.execute("INSERT INTO vectors VALUES (x'00', x'00000000', 1, 0.5)")
    return path


def test_a_cache_of_the_former_layout_is_made_anew(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    cache = VectorCache(of_version(tmp_path / "vectors.sqlite", 1))
    assert len(cache) == 0 and "layout 1" in caplog.text
    cache.put("model", vectors(["Satz"]))
    cache.close()
    assert len(VectorCache(tmp_path / "vectors.sqlite")) == 1


def test_a_cache_of_a_later_layout_is_left_alone(tmp_path):
    path = of_version(tmp_path / "vectors.sqlite", VERSION + 1)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"no cache of sentence vectors.*name another file"):
        VectorCache(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"Yes.\n", b"A dog sleeps.\n" * 1000, pickle.dumps([1] * 99)])
def test_files_that_are_no_cache(tmp_path, content):
    """A user may name a source text by mistake: the file stays, and no message advises deleting it."""
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"file: no cache of .*name another file") as caught:
        VectorCache(file)
    assert "delete" not in str(caught.value) and file.read_bytes() == content


def test_other_databases_are_no_cache(tmp_path):
    other = tmp_path / "other"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE mine (a)")
    with pytest.raises(InputError, match=r"no cache of sentence vectors.*name another file"):
        VectorCache(other)


def test_threads_may_share_a_cache(tmp_path):
    cache, kept = VectorCache(tmp_path / "vectors"), vectors([f"Satz {n}" for n in range(40)])

    def use(texts):
        cache.put("model", {text: kept[text] for text in texts})
        return len(cache.get("model", texts))

    with ThreadPoolExecutor(4) as threads:
        parts = [list(kept)[start : start + 10] for start in range(0, 40, 10)]
        assert list(threads.map(use, parts)) == [10] * 4
    assert len(pickle.loads(pickle.dumps(cache))) == len(cache) == 40  # the same file


def test_a_place_below_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file/vectors: the cache of vectors cannot be used"):
        VectorCache(tmp_path / "file/vectors")
