"""Cache of sentence vectors, in memory or in an SQLite file that several processes may use at once.

A vector's key is the hash of its origin (`SentenceVectors.fingerprint`) and of the text.  The least recently used
vectors are dropped when the cache is full.  Only numbers and hashes are stored, no text and no pickle.
"""

import logging
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from weebill.errors import InputError

VERSION = 2  # version of the table below; 1 had no checksums
TABLE = (
    "CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, pieces INTEGER NOT NULL, "
    "checksum INTEGER NOT NULL, used REAL NOT NULL)"
)
APPLICATION = 0x676F6C64  # identifies our SQLite files
PATIENCE = 600  # seconds to wait for another writer
DEFAULT_BYTES = 4 * 2**30
SHARE_DROPPED = 10  # one vector in ten is dropped when the cache is full
TOLERANCE = 1.1  # times the bound: the write that fills the file exceeds it
AT_ONCE = 500  # keys in one query; SQLite limits them


class Vector(NamedTuple):
    """Vector of one sentence: values (d,) in float32; pieces: number of pieces of the sentence before any cut."""

    values: np.ndarray
    pieces: int


class VectorCache:
    """Cache of sentence vectors of any metrics.  path: the file; None: in memory."""

    def __init__(self, path: str | Path | None = None, max_bytes: int = DEFAULT_BYTES) -> None:
        """Open the cache; max_bytes bounds the file.  Raises InputError if the file is not our cache, or damaged."""
        self._path, self._max_bytes = path, max_bytes
        self._alone = RLock()  # one thread at a time
        with self._faults():
            if path is not None:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                ":memory:" if path is None else path,
                timeout=PATIENCE,
                isolation_level=None,
                check_same_thread=False,
            )
            self._database.text_factory = bytes  # only a damaged value has the type text
            self._create()
            # A file slightly above the bound is merely full; shrinking it would rewrite it at every opening.
            if self._pragma("page_count") * self._pragma("page_size") > TOLERANCE * max_bytes:
                with self._transaction():
                    self._bound()
                self._database.execute("VACUUM")

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Let a copy, also in another process, open the file anew; a copy of a cache in memory is empty."""
        return VectorCache, (self._path, self._max_bytes)

    def get(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors in the cache, by text, and mark them as used; damaged ones are left out."""
        keys = {_key(fingerprint, text): text for text in texts}
        names, found = list(keys), {}
        with self._faults():
            for start in range(0, len(names), AT_ONCE):
                part = names[start : start + AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, vector, pieces, checksum FROM vectors WHERE key IN ({marks})"
                rows = self._database.execute(query, part).fetchall()
                hits = [row[:3] for row in rows if row[0] in keys and _whole(*row)]
                for key, values, pieces in hits:
                    found[keys[key]] = Vector(np.frombuffer(values, dtype="<f4"), pieces)
                if hits:
                    used = [(time.time(), key) for key, *_ in hits]
                    with self._transaction():
                        change = "UPDATE vectors SET used = ? WHERE key = ?"
                        self._database.executemany(change, used)
        return found

    def put(self, fingerprint: str, vectors: Mapping[str, Vector]) -> None:
        """Store vectors by text; drop the least recently used if there are too many."""
        rows = []
        for text, one in vectors.items():
            row = (_key(fingerprint, text), one.values.astype("<f4").tobytes(), one.pieces)
            rows.append((*row, _checksum(*row), time.time()))
        with self._faults(), self._transaction():
            change = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)"
            self._database.executemany(change, rows)
            self._bound()

    def __len__(self) -> int:
        """Return the number of vectors."""
        with self._faults():
            return self._number("SELECT count(*) FROM vectors")

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _create(self) -> None:
        """Create the table if there is none of this layout."""
        with self._transaction():
            application, version = self._pragma("application_id"), self._pragma("user_version")
            entries = self._number("SELECT count(*) FROM sqlite_master")
            if entries and (application != APPLICATION or not 0 < version <= VERSION):
                raise InputError(
                    f"{self._path}: no cache of sentence vectors of this version; name another file"
                )
            if entries and version == VERSION:
                return
            if entries:  # nothing shows which of its vectors are damaged
                logging.info("%s: a cache of layout %d; starting over", self._path, version)
                self._database.execute("DROP TABLE vectors")
            self._database.execute(f"PRAGMA application_id = {APPLICATION}")
            self._database.execute(f"PRAGMA user_version = {VERSION}")
            self._database.execute(TABLE)
            self._database.execute("CREATE INDEX by_use ON vectors (used)")

    def _bound(self) -> None:
        """Drop the least recently used vectors if there are too many."""
        while self._filled() > self._max_bytes and (count := len(self)):
            self._database.execute(
                "DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY used LIMIT ?)",
                [-(-count // SHARE_DROPPED)],
            )

    def _filled(self) -> int:
        """Return the bytes of the file without freed pages."""
        pages = self._pragma("page_count") - self._pragma("freelist_count")
        return pages * self._pragma("page_size")

    def _pragma(self, name: str) -> int:
        return self._number(f"PRAGMA {name}")

    def _number(self, question: str) -> int:
        return self._database.execute(question).fetchone()[0]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write all changes or none, as the only writer."""
        with self._database:  # commits, or rolls back
            self._database.execute("BEGIN IMMEDIATE")
            yield

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Hold off other threads, and turn SQLite's errors into ours."""
        try:
            with self._alone:
                yield
        except (sqlite3.OperationalError, OSError) as error:  # locked, full, read-only
            raise InputError(
                f"{self._path}: the cache of vectors cannot be used ({error}); "
                "make room and write access there, or name another file"
            ) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            found, remedy = "no cache of sentence vectors, or a damaged one", "name another file"
            if self._is_ours():
                found, remedy = "a damaged cache of sentence vectors", "remove it and run again"
            raise InputError(f"{self._path}: {found} ({error}); {remedy}") from error

    def _is_ours(self) -> bool:
        """Return True if the file begins as one that this class wrote."""
        try:
            with open(self._path, "rb") as file:
                return file.read(72)[68:] == APPLICATION.to_bytes(4, "big")  # SQLite's place for it
        except (OSError, TypeError):  # not to be read; in memory
            return False


def _key(fingerprint: str, text: str) -> bytes:
    return sha256(f"{fingerprint}\n{text}".encode()).digest()


def _checksum(key: bytes, values: bytes, pieces: int) -> int:
    return zlib.crc32(values, zlib.crc32(b"%b %d " % (key, pieces)))


def _whole(key: bytes, values: bytes, pieces: int, checksum: int) -> bool:
    """Return True if a row is undamaged; SQLite stores a type with each value, which may be damaged too."""
    typed = isinstance(values, bytes) and isinstance(pieces, int)
    return typed and _checksum(key, values, pieces) == checksum
