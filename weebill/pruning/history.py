"""Record of a pruning by steps, and the table of all heads, removed or not.

Heads and neurons are numbered as in the whole student.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weebill.pruning.structure import Prunable

COLUMNS = ("student", "recipe", "block", "head", "removed_in", "score")


class History:
    """Heads and neurons that remain, and the steps that removed the others."""

    def __init__(self, model: "Prunable", settings: Mapping[str, Any]):
        """Begin with the whole student `model`; settings: the method's, as plain values."""
        self.settings = dict(settings)
        self.heads = {block.name: list(range(block.heads)) for block in model.attention_blocks()}
        widths = {block.name: block.neurons for block in model.feed_forward_blocks()}
        self.neurons = {name: list(range(width)) for name, width in widths.items()}
        self.steps: list[dict[str, Any]] = []

    def remove(
        self,
        heads: Mapping[str, Sequence[int]],
        neurons: Mapping[str, Sequence[int]] | None = None,
        scores: Mapping[str, Sequence[float]] | None = None,
    ) -> None:
        """Record a step that removes parts; present numbers name these and the candidate heads that have scores."""
        scored = {
            name: dict(zip(map(str, self.heads[name]), values, strict=True))
            for name, values in (scores or {}).items()
        }
        removed = {"heads": _take(self.heads, heads), "neurons": _take(self.neurons, neurons or {})}
        self.steps.append({"removed": removed, "scores": scored})

    def removed_heads(self, model: "Prunable") -> dict[str, set[int]]:
        """Return block name → the heads to cut from a fresh copy of the whole student."""
        return {
            block.name: set(range(block.heads)) - set(self.heads[block.name])
            for block in model.attention_blocks()
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "settings": self.settings,
            "steps": self.steps,
            "survivors": {"heads": self.heads, "neurons": self.neurons},
        }


def _take(left: dict[str, list[int]], present: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Remove the survivors at some places of each block; return their numbers, without blocks that lose none."""
    taken = {}
    for name, places in present.items():
        if places:
            taken[name] = [left[name][place] for place in sorted(places)]
            left[name] = [number for number in left[name] if number not in set(taken[name])]
    return taken


def head_rows(history: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each head of the blocks that could lose one: the step of its removal and its last score."""
    removed, score = {}, {}
    for number, step in enumerate(history["steps"], 1):
        for block, heads in step["scores"].items():
            score.update({(block, int(head)): value for head, value in heads.items()})
        for block, heads in step["removed"]["heads"].items():
            removed.update({(block, head): number for head in heads})
    survivors = history["survivors"]["heads"]
    chosen_from = {block for block, _ in score | removed}
    left = {(block, head) for block in chosen_from for head in survivors[block]}
    order = {block: place for place, block in enumerate(survivors)}
    places = sorted(score.keys() | removed.keys() | left, key=lambda one: (order[one[0]], one[1]))
    return [
        {
            "block": place[0],
            "head": place[1],
            "removed_in": removed.get(place),
            "score": score.get(place),
        }
        for place in places
    ]


def to_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write the rows as CSV with a header; None becomes an empty field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
