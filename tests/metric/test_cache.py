"""The cache of sentence vectors: bounds, several writers, and files that are none."""

import pickle
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from goldcrest.errors import InputError
from goldcrest.metric.cache import Vector, VectorCache

WIDTH = 8


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


WRITER = """
import sys, numpy as np
from goldcrest.metric.cache import Vector, VectorCache
path, writer = sys.argv[1:]
cache = VectorCache(path)
for start in range(0, 200, 10):
    rows = {f"{writer} {n}": Vector(np.full(8, n, dtype=np.float32), n) for n in range(start, start + 10)}
    rows["shared"] = Vector(np.full(8, 7, dtype=np.float32), 7)
    cache.put("model", rows)
    assert len(cache.get("model", list(rows))) == 11
"""


def test_several_writers(tmp_path):
    path = tmp_path / "vectors.sqlite"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, path, str(number)], cwd=Path(__file__).parents[2]
        )
        for number in range(3)
    ]
    assert [one.wait() for one in writers] == [0, 0, 0]
    cache = VectorCache(path)
    assert len(cache) == 601
    for writer in range(3):
        found = cache.get("model", [f"{writer} {n}" for n in range(200)])
        assert all(found[f"{writer} {n}"].values[0] == n for n in range(200))


def test_files_that_are_no_cache(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(pickle.dumps({"vectors": 1}) * 100)
    with pytest.raises(InputError, match=r"a damaged cache of vectors, or none.*delete the file"):
        VectorCache(file)
    other = tmp_path / "other"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE mine (a)")
    with pytest.raises(InputError, match="no cache of sentence vectors"):
        VectorCache(other)
