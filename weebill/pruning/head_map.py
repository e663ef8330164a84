"""Table of all heads of a pruned model, removed or not."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

COLUMNS = ("student", "recipe", "block", "head", "removed_in", "score")


def head_rows(history: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one row for each head of the blocks from which a method chose, in order.

    removed_in: the step, from 1; None if the head remains.  score: the method's last score of the head, from the step
    that removed it or from the last step.
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
    """Write the rows as CSV with a header; None becomes an empty field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
