"""Penalty of the group lasso in training, and the heads and neurons that died of it (WMT21 §3.1)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from torch import Tensor

from weebill.errors import InputError
from weebill.pruning.criteria import Candidates
from weebill.pruning.groups import Groups, group_norms, groups_of
from weebill.pruning.ranking import Scores
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, Prunable
from weebill.pruning.study import Companion

if TYPE_CHECKING:
    from weebill.pruning.group_lasso import GroupLasso, Lasso

HEAD_DIES = 0.5  # at this share of dead connections


class LassoCompanion(Companion):
    """The penalty in training.  It has no parameters and no state."""

    def __init__(self, settings: "Lasso", model: Prunable):
        super().__init__()
        self._groups: list[tuple[Groups, float]] = [
            (groups, settings.strength * (groups.size**0.5 if settings.size_scaling else 1.0))
            for block in _candidates(model, settings.blocks)
            for groups in groups_of(block, settings.groups)
        ]

    def penalty(self) -> Tensor:
        """λ · Σ ‖w_g‖₂, a scalar."""
        return sum(strength * groups.norms().sum() for groups, strength in self._groups)


def norms_of(model: Prunable, settings: "GroupLasso") -> dict[str, Tensor]:
    """Block name → the norms of its groups."""
    blocks = _candidates(model, settings.blocks)
    return {block.name: group_norms(block, settings.groups) for block in blocks}


def dead_parts(
    model: Prunable, settings: "GroupLasso", before: Mapping[str, Tensor]
) -> tuple[dict[str, list[int]], dict[str, list[int]], Scores]:
    """The heads and neurons that died, and of each head the share of its groups that lives.

    before: the groups' norms before the penalty.
    """
    blocks = Candidates.named(model, settings.blocks, heads=True, neurons=True)
    dead = {
        name: norms <= settings.threshold * before[name].mean(1, keepdim=True)  # (maps, groups)
        for name, norms in norms_of(model, settings).items()
    }
    living = {}
    for block in blocks.attention:
        each = 1 if settings.groups == "head" else block.head_size
        by_head = dead[block.name].unflatten(1, (block.heads, each))  # (maps, h, groups)
        living[block.name] = 1 - by_head.double().mean((0, 2))
    heads = {name: _places(shares <= 1 - HEAD_DIES) for name, shares in living.items()}
    neurons = {block.name: _places(dead[block.name].any(0)) for block in blocks.feed_forward}
    scores = Scores(heads={name: shares.tolist() for name, shares in living.items()})
    return heads, neurons, scores


def _candidates(model: Prunable, pattern: str) -> list[AttentionBlock | FeedForwardBlock]:
    """The blocks whose names match.  Raises InputError where there are none."""
    candidates = Candidates.named(model, pattern, heads=True, neurons=True)
    blocks = [*candidates.attention, *candidates.feed_forward]
    if not blocks:
        raise InputError(f"pruning: the student has no blocks '{pattern}'; mend the pattern")
    return blocks


def _places(flags: Tensor) -> list[int]:
    return flags.nonzero().flatten().tolist()
