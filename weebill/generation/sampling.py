"""Choice of rows by a hash of their text: parts of a text, and samples of large ones.

Choices depend on characters and seed alone. Samples and parts use different hashes, so that a sample has
the same shares of all parts.
"""

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from weebill.errors import InputError

SAMPLED = ("share", "take")  # keys of an entry that takes a sample of its rows
Row = dict[str, str]


def drawn(text: str, seed: int | str) -> float:
    """Return a number in [0, 1) that depends only on the characters and the seed."""
    digest = hashlib.sha256(f"{seed}\n{text}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def sample(
    rows: Iterable[Row], entry: Mapping[str, Any], key: str, seed: int, place: str
) -> Iterator[Row]:
    """Yield the rows that an entry takes, in their order: all, a `share` of them, or the number `take`.

    Memory holds at most the rows that are taken. key: field whose text is hashed.
    Raises InputError, which names the entry by its `place`, if it has fewer rows than it takes.
    """
    own = f"sample {seed}"
    if "take" not in entry:
        share = entry.get("share", 1.0)
        yield from (row for row in rows if drawn(row[key], own) < share)
        return
    numbered = ((drawn(row[key], own), number, row) for number, row in enumerate(rows))
    lowest = heapq.nsmallest(entry["take"], numbered)  # equal texts in their order
    if len(lowest) < entry["take"]:
        raise InputError(
            f"{place}.take: found {entry['take']:,}, and the entry has {len(lowest):,} rows; lower it, or "
            "leave it out"
        )
    for _, _, row in sorted(lowest, key=lambda one: one[1]):
        yield row
