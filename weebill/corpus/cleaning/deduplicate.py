"""Duplicate pairs of a corpus of any size, found on disk in bounded memory.

Each pair becomes two digests, of its text and of its folded text (see `folded`).
They are written into as many bucket files as keep one bucket small, by the folded digest, so that equal
pairs meet in one bucket; then each bucket is sorted alone.
"""

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import numpy as np

from weebill.corpus.cleaning.normalise import folded

FIRST, EXACT, NEAR = 0, 1, 2  # what a row is: the first of its kind, or which sort of repeat
BUCKET_ROWS = 500_000  # 12 MB of records, about 40 MB while they are sorted

# 96 bits decide: among a billion pairs two different ones collide with a chance of about 1e-11.
_RECORD = np.dtype([("folded", "<u8"), ("text", "<u4"), ("near", "<u4"), ("row", "<i8")])


def digests(sides: tuple[list[str], ...]) -> np.ndarray:
    """(rows,) records of a batch of pairs (or of lines), with `row` still 0."""
    records = np.zeros(len(sides[0]), _RECORD)
    texts = ["\t".join(pair) for pair in zip(*sides, strict=True)]
    # A side of punctuation alone folds to nothing; it stands for itself.
    folds = [
        [fold or text for fold, text in zip(folded(side), side, strict=True)] for side in sides
    ]
    keys = ["\t".join(pair) for pair in zip(*folds, strict=True)]
    near = b"".join([blake2b(key.encode(), digest_size=12).digest() for key in keys])
    parts = np.frombuffer(near, np.dtype([("folded", "<u8"), ("near", "<u4")]))
    # A checksum will do for the text: it only tells apart texts that fold to the same.
    records["text"] = np.fromiter((crc32(text.encode()) for text in texts), "<u4", len(texts))
    records["folded"], records["near"] = parts["folded"], parts["near"]
    return records


class Buckets:
    """The bucket files of a corpus of `rows` rows in a folder; several may write at once, each its own part."""

    def __init__(self, folder: str | Path, rows: int, bucket_rows: int = BUCKET_ROWS) -> None:
        self.folder = Path(folder)
        self.rows = rows
        self.count = max(1, -(-rows // bucket_rows))

    def write(self, name: str, records: Iterable[np.ndarray]) -> None:
        """Distribute records into this writer's own part of every bucket, replacing an earlier try."""
        self.folder.mkdir(parents=True, exist_ok=True)
        paths = [self._part(bucket, name) for bucket in range(self.count)]
        exact = self.folder / f"exact.{name}"  # row numbers
        for path in [*paths, exact]:
            path.write_bytes(b"")
        for part in records:
            # Repeats within the part need no bucket, which the commonest pair alone could fill.
            part, _, same_text = _sorted(part)
            with exact.open("ab") as file:
                file.write(part["row"][same_text].tobytes())
            part = part[~same_text]
            bucket_of = (part["folded"] % np.uint64(self.count)).astype(np.int64)
            order = np.argsort(bucket_of, kind="stable")
            ends = np.searchsorted(bucket_of[order], np.arange(self.count + 1))
            for bucket, path in enumerate(paths):
                chosen = part[order[ends[bucket] : ends[bucket + 1]]]
                if len(chosen):
                    with path.open("ab") as file:
                        file.write(chosen.tobytes())

    def _part(self, bucket: int, name: str) -> Path:
        return self.folder / f"bucket-{bucket:05d}.{name}"

    def find(self, verdicts: str | Path) -> None:
        """Write a file of one byte a row: FIRST, EXACT or NEAR.

        The first row of equal pairs stays; of the others, those that repeat an earlier text exactly are
        duplicates, the rest near-duplicates.
        """
        out = np.memmap(verdicts, np.uint8, "w+", shape=(max(self.rows, 1),))
        for bucket in range(self.count):
            parts = sorted(self.folder.glob(f"bucket-{bucket:05d}.*"))
            records = np.concatenate([np.fromfile(path, _RECORD) for path in parts] or [_EMPTY])
            rows, verdict = _judge(records)
            out[rows] = verdict
        for path in self.folder.glob("exact.*"):
            out[np.fromfile(path, _RECORD["row"])] = EXACT
        out.flush()


_EMPTY = np.zeros(0, _RECORD)


def _judge(records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(repeated,) row numbers of the rows that are not the first of their kind, and their verdicts."""
    records, same_key, same_text = _sorted(records)
    group = np.cumsum(~same_key) - 1  # (records,), the number of each record's folded text
    first_row = np.full(int(group[-1]) + 1 if len(group) else 0, np.iinfo(np.int64).max)
    np.minimum.at(first_row, group, records["row"])
    repeated = records["row"] != first_row[group]
    return records["row"][repeated], np.where(same_text, EXACT, NEAR).astype(np.uint8)[repeated]


def _sorted(records: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Records by folded text, text and row, and which have the folded text and the text of the one before."""
    key = (records["row"], records["text"], records["near"], records["folded"])
    records = records[np.lexsort(key)]
    same_text = np.zeros(len(records), bool)
    same_key = np.zeros(len(records), bool)
    same_key[1:] = (records["folded"][1:] == records["folded"][:-1]) & (
        records["near"][1:] == records["near"][:-1]
    )
    same_text[1:] = same_key[1:] & (records["text"][1:] == records["text"][:-1])
    return records, same_key, same_text
