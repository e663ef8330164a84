"""The fate of every head of a pruned model, as rows of a table."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

COLUMNS = ("student", "recipe", "block", "head", "removed_in", "confidence")


def head_rows(history: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each head that a method's history speaks of, blocks and heads in order.

    removed_in: the iteration, from 1; None where the head is left.  confidence: as last measured, when
    the head went or in the last iteration.
    """
    removed, confidence = {}, {}
    for iteration in history["iterations"]:
        for block, heads in iteration["confidence"].items():
            for head, value in heads.items():
                confidence[block, int(head)] = value
        for head in iteration["removed"]:
            removed[head["block"], head["head"]] = iteration["iteration"]
    blocks = list(history["survivors"])
    return [
        {
            "block": block,
            "head": head,
            "removed_in": removed.get((block, head)),
            "confidence": confidence[block, head],
        }
        for block, head in sorted(confidence, key=lambda place: (blocks.index(place[0]), place[1]))
    ]


def to_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows as CSV with a header; what is None stays empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
