"""Search for duplicate pairs in a corpus of any size, on disk and in bounded memory.

Each pair becomes a digest of its text and one of its folded text (see `folded`).  The folded digest decides which
bucket file they are written to, so equal pairs are in the same bucket.  Each bucket is sorted separately.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import numpy as np

from weebill.corpus.cleaning.folding import folded
from weebill.corpus.cleaning.pairs import Context, Pairs, none

FIRST, EXACT, NEAR = 0, 1, 2  # a row is the first of its kind, an exact repeat or a near repeat
BUCKET_ROWS = 100_000  # 2.4 MB of records, about 8 MB while they are sorted
WRITTEN_ROWS = 65_536  # rows written at once; enough to give each bucket a few of them

# Rows are compared by 96 bits: the chance that any two of a billion different pairs collide is about 1e-11.
_RECORD = np.dtype([("folded", "<u8"), ("text", "<u4"), ("near", "<u4"), ("row", "<i8")])


def duplicate(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs whose normalised text equals that of an earlier pair of the corpus."""
    return pairs.repeats == EXACT


def near_duplicate(pairs: Pairs, context: Context) -> np.ndarray:
    """Reject pairs that equal an earlier pair if case, punctuation and white space are ignored."""
    return pairs.repeats == NEAR if context.near_duplicates else none(pairs)


def digests(sides: tuple[list[str], ...]) -> np.ndarray:
    """Return the records (rows,) of a batch of pairs (or of lines); their field `row` is still 0."""
    records = np.zeros(len(sides[0]), _RECORD)
    texts = map("\t".join, zip(*sides, strict=True))
    # A side with only punctuation folds to nothing, so its own text is used.
    folds = [
        [fold or text for fold, text in zip(folded(side), side, strict=True)] for side in sides
    ]
    keys = map("\t".join, zip(*folds, strict=True))
    near = b"".join([blake2b(key.encode(), digest_size=12).digest() for key in keys])
    parts = np.frombuffer(near, np.dtype([("folded", "<u8"), ("near", "<u4")]))
    # A checksum of the text suffices: it only distinguishes texts with equal folded text.
    records["text"] = np.fromiter((crc32(text.encode()) for text in texts), "<u4")
    records["folded"], records["near"] = parts["folded"], parts["near"]
    return records


class Buckets:
    """Bucket files of a corpus of `rows` rows; several processes may write at once, each to its own parts."""

    def __init__(self, folder: str | Path, rows: int, bucket_rows: int = BUCKET_ROWS) -> None:
        self.folder = Path(folder)
        self.rows = rows
        self.count = max(1, -(-rows // bucket_rows))

    def write(self, name: str, records: Iterable[np.ndarray]) -> None:
        """Distribute records over this writer's own part of every bucket; parts of an earlier try are replaced."""
        self.folder.mkdir(parents=True, exist_ok=True)
        paths = [self.folder / f"bucket-{bucket:05d}.{name}" for bucket in range(self.count)]
        exact = self.folder / f"exact.{name}"  # row numbers
        for path in [*paths, exact]:
            path.write_bytes(b"")
        for part in _gathered(records):
            # Exact repeats within a part do not go into buckets, because one very common pair could fill a bucket.
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

    def find(self, verdicts: str | Path) -> None:
        """Write a file with one byte per row: FIRST, EXACT or NEAR.

        The first of several equal pairs is FIRST; the others are EXACT if they repeat an earlier text, else NEAR.
        """
        out = np.memmap(verdicts, np.uint8, "w+", shape=(max(self.rows, 1),))
        for bucket in range(self.count):
            parts = sorted(self.folder.glob(f"bucket-{bucket:05d}.*"))
            records = [np.fromfile(path, _RECORD) for path in parts]
            rows, verdict = _judge(np.concatenate([np.zeros(0, _RECORD), *records]))
            out[rows] = verdict
        for path in self.folder.glob("exact.*"):
            out[np.fromfile(path, _RECORD["row"])] = EXACT
        out.flush()


def _gathered(records: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield the records in parts of at least WRITTEN_ROWS; the last one may be smaller."""
    waiting: list[np.ndarray] = []
    for part in records:
        waiting.append(part)
        if sum(map(len, waiting)) >= WRITTEN_ROWS:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _judge(records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the row numbers (repeated,) of all but the first row of each folded text, and their verdicts."""
    records, same_key, same_text = _sorted(records)
    group = np.cumsum(~same_key) - 1  # (records,): the number of each record's folded text
    first_row = np.full(int(group[-1]) + 1 if len(group) else 0, np.iinfo(np.int64).max)
    np.minimum.at(first_row, group, records["row"])
    repeated = records["row"] != first_row[group]
    return records["row"][repeated], np.where(same_text, EXACT, NEAR).astype(np.uint8)[repeated]


def _sorted(records: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort records; also return if each equals the one before it in folded text, and in text too, (records,) bool."""
    key = (records["row"], records["text"], records["near"], records["folded"])
    records = records[np.lexsort(key)]
    same_text = np.zeros(len(records), bool)
    same_key = np.zeros(len(records), bool)
    after, before = records[1:], records[:-1]
    same_key[1:] = (after["folded"] == before["folded"]) & (after["near"] == before["near"])
    same_text[1:] = same_key[1:] & (after["text"] == before["text"])
    return records, same_key, same_text
