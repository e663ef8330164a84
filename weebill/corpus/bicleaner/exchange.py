"""Files exchanged with bicleaner: we write pairs, read scores, and verify the counts of each part.

A part of the pairs is `part-00000.tsv.gz`, with a line SOURCE TAB TARGET for each kept row.  A part of the scores is
`part-00000.txt`, with one number per line.
"""

import gzip
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path

import numpy as np

from weebill.corpus.bicleaner.classification import part_paths, score_path
from weebill.corpus.scores.scoring import score_shard
from weebill.corpus.table import SHARDS, read_batches, shard_paths
from weebill.errors import InputError
from weebill.experiment.scores import Score
from weebill.files import atomic_folder
from weebill.replaceable import FolderKind
from weebill.text_files import LONGEST_RECORD, read_lines

PART_ROWS = 100_000
PARTS = FolderKind(perhaps=("part-*.tsv.gz",))
# Characters that end a line or a column for bicleaner.  They are rare in cleaned text.
_SEPARATORS = str.maketrans(dict.fromkeys("\t\n\r\v\f\x00", " "))

Pair = tuple[str, str]


def write_pairs(corpus: str | Path, folder: str | Path, part_rows: int = PART_ROWS) -> int:
    """Write the kept rows of a table as parts of the folder, in order; return their number.

    Raises InputError if a kept row lacks a side.
    """
    return write_parts(_kept_pairs(corpus), folder, part_rows)


def write_parts(pairs: Iterable[Pair], folder: str | Path, part_rows: int = PART_ROWS) -> int:
    """Write pairs as parts of the folder, in order; return their number."""
    rows, left = 0, iter(pairs)
    with atomic_folder(folder, PARTS) as made:
        for number in count():
            if not (part := list(islice(left, part_rows))):
                return rows
            text = "".join(map(as_line, part)).encode()
            # A time stamp of 0 makes files of equal pairs equal.
            (made / f"part-{number:05d}.tsv.gz").write_bytes(gzip.compress(text, 1, mtime=0))
            rows += len(part)


def as_line(pair: Pair) -> str:
    """Return a pair as a line of a part."""
    return "\t".join(side.translate(_SEPARATORS) for side in pair) + "\n"


def _kept_pairs(corpus: str | Path) -> Iterator[Pair]:
    for batch in read_batches(corpus, ["source", "target"]):
        if any(column.null_count for column in batch.columns):
            raise InputError(f"{corpus}: a kept row lacks a side, which bicleaner reads")
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def join_scores(
    corpus: str | Path, pairs: str | Path, scores: str | Path, output: str | Path, score: Score
) -> None:
    """Write the folder `output` with the scores of the kept rows, with the same shards and rows as the corpus.

    pairs: parts that `write_pairs` made from the corpus.  scores: bicleaner's scores of these parts.
    Raises InputError if counts do not match, or a line is not a number.
    """
    values = read_scores(pairs, scores)
    begin = 0

    def following(sources: Sequence[str], targets: Sequence[str]) -> np.ndarray:
        nonlocal begin
        begin += len(sources)
        found = values[begin - len(sources) : begin]
        if len(found) < len(sources):
            raise InputError(
                f"{scores}: {len(values):,} scores, but {corpus} has more kept rows; delete {scores} and run again"
            )
        return found

    with atomic_folder(output, SHARDS) as made:
        for shard in shard_paths(corpus):
            name = shard.name if Path(corpus).is_dir() else "part-00000.parquet"
            score_shard(shard, made / name, score, following)
        if begin != len(values):
            raise InputError(
                f"{scores}: {len(values):,} scores, but {corpus} has {begin:,} kept rows; delete {scores} and "
                "run again"
            )


def read_scores(pairs: str | Path, scores: str | Path) -> np.ndarray:
    """Read the scores (rows,) of all parts.  Raises InputError if a part has too few or too many."""
    parts = [np.zeros(0)]
    for part in part_paths(pairs):
        path = score_path(part, scores)
        wanted = sum(1 for _ in read_lines(part, LONGEST_RECORD))
        found = []
        for number, line in enumerate(read_lines(path, LONGEST_RECORD), start=1):
            try:
                found.append(float(line))
            except ValueError:
                raise InputError(f"{path}:{number}: found '{line}', expected a score") from None
        if len(found) != wanted:
            raise InputError(
                f"{path}: {len(found):,} scores for the {wanted:,} pairs of {part}; delete {scores} and run again"
            )
        parts.append(np.array(found))
    return np.concatenate(parts)
