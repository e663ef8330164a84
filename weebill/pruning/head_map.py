"""The fate of every head of a pruned model, as rows of a table."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

COLUMNS = ("student", "recipe", "block", "head", "removed_in", "score")


def head_rows(history: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each head of the blocks that stood to choose in a method's history, in order.

    removed_in: the step, from 1; None where the head is left.  score: the method's own, as last measured,
    when the head went or in the last step.
    """
    removed, score = {}, {}
    for number, step in enumerate(history["steps"], 1):
        for block, heads in step["scores"].items():
            score.update({(block, int(head)): value for head, value in heads.items()})
        for block, heads in step["removed"]["heads"].items():
            removed.update({(block, head): number for head in heads})
    survivors = history["survivors"]["heads"]
    chosen_from = {block for block, _ in score | removed}
    left = [(block, head) for block in chosen_from for head in survivors[block]]
    blocks = list(survivors)
    return [
        {
            "block": block,
            "head": head,
            "removed_in": removed.get((block, head)),
            "score": score.get((block, head)),
        }
        for block, head in sorted(
            {*score, *removed, *left}, key=lambda place: (blocks.index(place[0]), place[1])
        )
    ]


def to_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows as CSV with a header; what is None stays empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
