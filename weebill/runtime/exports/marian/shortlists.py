"""Export of lexical shortlists to Marian's formats, text and binary.

Marian unites the lists of all source pieces of a batch, the end included, and adds the pieces themselves where both
sides share a vocabulary.  Frequent pieces stand in the list of the end, because every source has an end.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weebill.errors import InputError
from weebill.runtime.shortlist import Shortlist
from weebill.translation.model.vocabulary import EOS

MAGIC = 0xF11A48D5013417F5
FIRST = 2  # Marian adds the first two pieces of the vocabulary: the end and the unknown


def lists(shortlist: Shortlist) -> list[list[int]]:
    """Return the target pieces of each source piece, the likeliest first."""
    found = [
        list(dict.fromkeys(target for target in row if target >= 0))
        for row in shortlist.candidates.tolist()
    ]
    found[EOS] = list(dict.fromkeys([*found[EOS], *shortlist.frequent.tolist()]))
    return found


def write_text(path: Path, shortlist: Shortlist, pieces: Sequence[str]) -> int:
    """Write lines of `target source weight`; return the length of the longest list.

    The weight is the reciprocal rank: Marian uses it for the order only, and a shortlist holds no more.
    """
    odd = [
        piece for piece in pieces if len(piece.encode().split()) != 1
    ]  # ASCII white space divides
    if odd:
        raise InputError(
            f"Marian's text shortlists cannot hold the piece {odd[0]!r}, which contains a space; "
            "export without --shortlist"
        )
    rows = lists(shortlist)
    with path.open("w", encoding="utf-8", newline="") as file:
        for source, targets in zip(pieces, rows, strict=True):
            for rank, target in enumerate(targets, start=1):
                file.write(f"{pieces[target]} {source} {1 / rank:.6f}\n")
    return max(map(len, rows))


def write_binary(path: Path, shortlist: Shortlist) -> None:
    """Write header, offsets (one more than source pieces) and target pieces, ascending for each source piece."""
    rows = lists(shortlist)
    offsets = np.cumsum([0, *map(len, rows)], dtype="<u8")
    targets = np.array([target for row in rows for target in sorted(row)], dtype="<u4")
    body = np.array([FIRST, max(map(len, rows)), len(offsets), len(targets)], dtype="<u8").tobytes()
    body += offsets.tobytes() + targets.tobytes()
    path.write_bytes(np.array([MAGIC, _checksum(body)], dtype="<u8").tobytes() + body)


def _checksum(body: bytes) -> int:
    """Compute Marian's hash over whole 64-bit words."""
    seed, mask = 0, 2**64 - 1
    for word in np.frombuffer(body[: len(body) // 8 * 8], dtype="<u8").tolist():
        seed ^= (word + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & mask
    return seed
