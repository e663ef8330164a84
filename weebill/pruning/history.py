"""Record of a pruning by steps; heads and neurons have their numbers in the whole student."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weebill.pruning.ranking import Scores

if TYPE_CHECKING:
    from weebill.pruning.structure import Prunable


class History:
    """Heads and neurons that remain, and the steps that removed the others."""

    def __init__(self, model: "Prunable", settings: Mapping[str, Any]):
        """Begin with the whole student `model`; settings: the method's, as plain values."""
        self.settings = dict(settings)
        self.heads = {block.name: list(range(block.heads)) for block in model.attention_blocks()}
        self.neurons = {
            block.name: list(range(block.neurons)) for block in model.feed_forward_blocks()
        }
        self.steps: list[dict[str, Any]] = []

    def remove(
        self,
        heads: Mapping[str, Sequence[int]],
        neurons: Mapping[str, Sequence[int]] | None = None,
        scores: Scores | None = None,
    ) -> None:
        """Record a step that removes heads and neurons.

        Removed parts, and the scores of all candidates, have their present numbers: a cut block counts its survivors
        in order.  Scores of neurons are not kept, because there are too many.
        """
        scored = {
            name: dict(zip(map(str, self.heads[name]), values, strict=True))
            for name, values in (scores.heads if scores else {}).items()
        }
        removed = {
            "heads": _take(self.heads, heads),
            "neurons": _take(self.neurons, neurons or {}),
        }
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
