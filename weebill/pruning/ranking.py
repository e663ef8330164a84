"""Scores of heads and neurons, and selection of the lowest: over all blocks, or in each block."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from weebill.experiment.shares import part_of

BlockScores = dict[str, list[float]]  # block name -> score of each of its heads or neurons
Ranking = Literal["global", "layer"]


@dataclass(frozen=True)
class Scores:
    """Scores of the heads of attention blocks and of the neurons of feed-forward blocks."""

    heads: BlockScores = field(default_factory=dict)
    neurons: BlockScores = field(default_factory=dict)


def part_of_blocks(share: float, widths: Collection[int], ranking: Ranking) -> int:
    """Count the heads or neurons that `lowest_share` selects from blocks of these widths."""
    groups = widths if ranking == "layer" else [sum(widths)]
    return sum(part_of(share, width) for width in groups)


def lowest(scores: Mapping[str, Sequence[float]], count: int) -> list[tuple[str, int]]:
    """Return the `count` lowest scores of all blocks as (block name, head or neuron), lowest first.

    Equal scores are ordered by block, then by number.  Raises ValueError if there are fewer scores.
    """
    numbered = [
        (value, place, number, name)
        for place, (name, values) in enumerate(scores.items())
        for number, value in enumerate(values)
    ]
    if len(numbered) < count:
        raise ValueError(f"{count} to remove, but only {len(numbered)} are left")
    return [(name, number) for _, _, number, name in sorted(numbered)[:count]]


def lowest_share(
    scores: Mapping[str, Sequence[float]], share: float, ranking: Ranking
) -> dict[str, list[int]]:
    """Return block name → the heads or neurons, ascending, of the lowest share.

    ranking: `layer` selects ⌊share · n⌋ of each block's n; `global` that part of all, and may leave a block empty.
    """
    groups = [{name: values} for name, values in scores.items()] if ranking == "layer" else [scores]
    removed = {name: [] for name in scores}
    for group in groups:
        for name, number in lowest(group, part_of(share, sum(map(len, group.values())))):
            removed[name].append(number)
    return {name: sorted(numbers) for name, numbers in removed.items()}
