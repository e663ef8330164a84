"""Marian's lexical shortlists, as text and binary.

Marian unites the lists of all source pieces of a batch, the end included, and adds the first pieces of the vocabulary
and, if both sides share it, the pieces themselves.  We write frequent pieces into the list of the end, because every
source has an end.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weebill.errors import InputError
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import EOS, AnyVocabulary

MAGIC = 0xF11A48D5013417F5  # of binary shortlists
HEAD = 6  # magic, checksum, first pieces, longest list, offsets, target pieces
# Marian adds the first two pieces of the vocabulary to shortlists: the end and the unknown.
FIRST = 2


def _lists(shortlist: Shortlist) -> list[list[int]]:
    """Return the target pieces of each source piece, the likeliest first."""
    found = [
        list(dict.fromkeys(target for target in row if target >= 0))
        for row in shortlist.candidates.tolist()
    ]
    found[EOS] = list(dict.fromkeys([*found[EOS], *shortlist.frequent.tolist()]))
    return found


def write_shortlist_text(
    path: Path, shortlist: Shortlist, sources: Sequence[str], targets: Sequence[str]
) -> int:
    """Write lines `target source weight`, the weight giving only the order; return the length of the longest list.

    sources, targets: pieces of both vocabularies, which may be one.
    """
    odd = [
        piece for piece in (*sources, *targets) if len(piece.encode().split()) != 1
    ]  # ASCII space divides
    if odd:
        raise InputError(
            f"Marian's text shortlists cannot hold the piece {odd[0]!r}, which contains a space; "
            "export without --shortlist"
        )
    rows = _lists(shortlist)
    with path.open("w", encoding="utf-8", newline="") as file:
        for source, row in zip(sources, rows, strict=True):
            for rank, target in enumerate(row, start=1):
                file.write(f"{targets[target]} {source} {1 / rank:.6f}\n")
    return max(map(len, rows))


def write_shortlist(path: Path, shortlist: Shortlist) -> None:
    """Write header, offsets (one more than source pieces) and target pieces, ascending for each source piece."""
    rows = _lists(shortlist)
    offsets = np.cumsum([0, *map(len, rows)], dtype="<u8")
    targets = np.array([target for row in rows for target in sorted(row)], dtype="<u4")
    body = np.array([FIRST, max(map(len, rows)), len(offsets), len(targets)], dtype="<u8").tobytes()
    body += offsets.tobytes() + targets.tobytes()
    path.write_bytes(np.array([MAGIC, _checksum(body)], dtype="<u8").tobytes() + body)


def read_shortlist(content: bytes, path: str | Path, vocabulary: AnyVocabulary) -> Shortlist:
    """Return a binary shortlist, with the pieces that Marian would allow.

    Raises InputError, which names `path`, if the content is not a shortlist, is damaged, or is of another vocabulary.
    """
    try:
        if len(content) < 8 * HEAD:
            raise ValueError(f"it has {len(content)} bytes")
        magic, checksum, first, _, places, count = np.frombuffer(content, "<u8", HEAD).tolist()
        if magic != MAGIC:
            raise ValueError("it begins otherwise")
        begin = 8 * (HEAD + places)
        if len(content) != begin + 4 * count:
            raise ValueError(f"it has {len(content):,} bytes, expected {begin + 4 * count:,}")
        if checksum != _checksum(content[16:]):
            raise ValueError("its checksum differs")
        offsets = np.frombuffer(content, "<u8", places, 8 * HEAD).astype(np.int64)
        targets = np.frombuffer(content, "<u4", count, begin)
        lengths = np.diff(offsets)
        if offsets[:1].tolist() != [0] or offsets[-1] != count or lengths.min(initial=0) < 0:
            raise ValueError("its offsets are no lists")
    except ValueError as error:
        message = f"{path}: not a binary shortlist of Marian, or damaged ({error})"
        raise InputError(f"{message}; fetch the file again") from error
    target, source = vocabulary.sizes
    if len(lengths) > (source or target) or max(targets.max(initial=0), first - 1) >= target:
        raise InputError(
            f"{path}: a shortlist of more pieces than the vocabulary has; name the one published with the model"
        )
    rows = [*np.split(targets, offsets[1:-1]), *[targets[:0]] * ((source or target) - len(lengths))]
    if source is None:  # the pieces of the source themselves
        rows = [np.union1d(row, [piece]) for piece, row in enumerate(rows)]
    candidates = np.full((len(rows), max(map(len, rows))), -1, dtype=np.int32)
    for piece, row in enumerate(rows):
        candidates[piece, : len(row)] = row
    frequent = np.arange(first, dtype=np.int32)
    return Shortlist(candidates, frequent, vocabulary.sha256, target if source else None)


def _checksum(body: bytes) -> int:
    """Return Marian's hash over whole words of 64 bits."""
    checksum, mask = 0, 2**64 - 1
    for word in np.frombuffer(body[: len(body) // 8 * 8], dtype="<u8").tolist():
        checksum ^= (word + 0x9E3779B9 + (checksum << 6) + (checksum >> 2)) & mask
    return checksum
