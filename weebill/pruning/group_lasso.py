"""Group lasso pruning (WMT21 §3.1, after Behnke and Heafield 2021)."""

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weebill.pruning.history import History
from weebill.pruning.method import BlockMethod, BlockPattern, Grouping, Method
from weebill.settings import Amount, Count, PartialShare, Positive

if TYPE_CHECKING:
    from weebill.pruning.structure import Prunable
    from weebill.pruning.study import Study


@dataclass(frozen=True)
class GroupLasso(BlockMethod):
    """Train with a penalty on the norms of groups of weights, then remove the dead parts (WMT21 §3.1).

    The first `reset_to` updates have no penalty, the next `regularise_updates` do, and the others train the rest.
    """

    groups: Grouping = "rowcol"
    """Groups of weights: with `rowcol`, rows and columns of the projections, and a head is removed when half of its
    connections are dead; with `head`, all weights of a head together. Feed-forward groups are rows and columns in
    both."""
    strength: Positive = 1e-4
    """Weight λ of the penalty, beside the loss of `words` words."""
    words: Count = 1
    """Target words over which the loss beside λ is summed. Our loss is a mean over words: the penalty has the weight
    `strength` / `words`. With 1, λ belongs to a mean too; with the words of an update, to their sum; with the words
    of one device's batch, each device adds the penalty to its own sum."""
    size_scaling: bool = False
    """`true` multiplies each norm by the square root of its group's size."""
    threshold: PartialShare = 0.1
    """Largest norm of a dead group, as a share of the mean norm of its map's groups before the penalty.

    Adam's steps keep the norms of unused groups above zero, at some thousandths of their initial values, so the
    paper's absolute 1e-5 finds no dead group; groups below a tenth do not matter to the loss.
    """
    reset: bool = False
    """`true` resets the remaining weights to their values after `reset_to` updates and trains from there.

    This is late resetting. The paper continues with the small weights after the penalty, and with fewer updates.
    """
    reset_to: Amount = 50_000
    """Updates without the penalty; 0 for a published student."""
    regularise_updates: Count = 150_000
    """Updates with the penalty."""
    blocks: BlockPattern = "encoder.*"
    """Pattern of the names of the blocks."""

    @property
    def label(self) -> str:
        return f"group-lasso, {self.groups}"

    @property
    def phases(self) -> dict[str, int]:
        return {} if self.reset else {"regularise_updates": self.regularise_updates}

    @property
    def undone(self) -> dict[str, int]:
        return {"regularise_updates": self.regularise_updates} if self.reset else {}

    def same_shape(self, other: Method) -> bool:
        """Return True if the recipes differ at most in their setting `reset`."""
        return isinstance(other, GroupLasso) and self == replace(other, reset=self.reset)

    def extra_updates(self, training: Mapping[str, Any]) -> int:
        """Count the updates; those with the penalty are extra if the remaining weights are reset."""
        return super().extra_updates(training) + sum(self.undone.values())

    def shrink(self, study: "Study", work: Path) -> "tuple[Prunable, History]":
        """Train with the penalty, and remove the dead parts.  Raises InputError if the pattern matches no block."""
        from weebill.pruning.cut import cut
        from weebill.pruning.group_penalty import Lasso, dead_parts, norms_of

        strength = self.strength / self.words
        penalty = Lasso(self.groups, strength, self.size_scaling, self.blocks)
        model = study.checkpoint(self.reset_to)
        history = History(model, asdict(self))
        before = norms_of(model, penalty)
        phase = {"start_update": self.reset_to, "updates": self.regularise_updates}
        study.train(model, **phase, work=work / "regularised", companion=penalty)
        heads, neurons, scores = dead_parts(model, penalty, before, self.threshold)
        if not any(heads.values()) and not any(neurons.values()):
            logging.warning("group lasso: nothing died; raise strength or regularise_updates")
        history.remove(heads, neurons, scores)
        if self.reset:
            model = study.checkpoint(self.reset_to)
        cut(model, heads, neurons)
        return model, history
