"""Iterative pruning of heads with late resetting (WNGT20 §4, after Frankle et al. 2019).

Train to an early checkpoint C.  In each iteration, continue the training, remove the least confident heads, and
reset the remaining weights to C.  Finally, train the rest to convergence.
"""

import logging
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weebill.errors import InputError
from weebill.files import read_json, write_json
from weebill.pruning.history import History
from weebill.pruning.method import BlockMethod, BlockPattern, Criterion, ModelShape, Removed, lowest
from weebill.settings import Amount, Count

if TYPE_CHECKING:
    from weebill.pruning.criteria import Candidates
    from weebill.pruning.structure import Prunable
    from weebill.pruning.study import Study


@dataclass(frozen=True)
class LateReset(BlockMethod):
    """Remove heads step by step, with resets to an early checkpoint (WNGT20 §4, after Frankle et al. 2019)."""

    parts = frozenset({"heads"})
    heads_per_iteration: Count = 3
    """Heads removed in each iteration. The paper's Steady uses 3, its Pushy 6."""
    iterations: Count = 12
    """Number of iterations; 12 iterations of 3 heads remove 36 of the 48 encoder heads of Tiny."""
    criterion: Criterion = "confidence"
    """Score of heads; the lowest are removed first: `confidence` (the largest attention weight of a head, on
    average; the paper's), `gradient` (effect of the head on the loss), `magnitude` (norm of its weights), or a
    `random` choice."""
    reset_to: Amount = 25_000
    """Updates of the checkpoint to which the remaining weights are reset; 0 for a published student."""
    iteration_updates: Count = 15_000
    """Updates between two removals, which `training.updates` does not count."""
    blocks: BlockPattern = "encoder.*"
    """Pattern of the names of the attention blocks that lose heads, such as `encoder.[0-2].*`; with `confidence`,
    only blocks of the encoder."""

    @property
    def label(self) -> str:
        return f"late-reset, {self.criterion}"

    @property
    def undone(self) -> dict[str, int]:
        return {"iteration_updates": self.iteration_updates}

    def removes(self, shape: ModelShape) -> Removed:
        return Removed(self.blocks, heads=self.heads_per_iteration * self.iterations)

    def asked(self, removed: Removed) -> str:
        """Return the product of heads and iterations in words."""
        return f"{self.heads_per_iteration} heads x {self.iterations} iterations = {removed.heads}"

    def extra_updates(self, training: Mapping[str, Any]) -> int:
        return super().extra_updates(training) + self.iterations * self.iteration_updates

    def shrink(self, study: "Study", work: Path) -> "tuple[Prunable, History]":
        """Remove heads step by step, and return C without them.  Raises InputError if there are too few heads."""
        whole = study.checkpoint(self.reset_to)
        asked = self.heads_per_iteration * self.iterations
        candidates = self._candidates(whole)
        found = sum(block.heads - len(block.protected) for block in candidates.attention)
        if asked > found:
            raise InputError(
                f"pruning: {self.iterations} iterations of {self.heads_per_iteration} heads remove "
                f"{asked}, but the student has {found} in blocks '{self.blocks}'; remove fewer"
            )
        history = History(whole, asdict(self))
        for number in range(1, self.iterations + 1):
            scores = self._scores(study, history, work / f"iteration-{number:02d}")
            removed = {name: [] for name in scores}
            for name, head in lowest(scores, self.heads_per_iteration, candidates.protected):
                removed[name].append(head)
            history.remove(removed, scores=scores)
            logging.info("iteration %d of %d done", number, self.iterations)
        return self._reset(study, history), history

    def _scores(self, study: "Study", history: History, work: Path) -> dict[str, list[float]]:
        from weebill.pruning.criteria import CRITERIA

        outcome, training, updates = work / "scores.json", work / "training", self.iteration_updates
        if not outcome.is_file():
            model = self._reset(study, history)
            study.train(model, start_update=self.reset_to, updates=updates, work=training)
            scores = CRITERIA[self.criterion](study, model, self._candidates(model))
            write_json(outcome, scores.heads)
        shutil.rmtree(training, ignore_errors=True)
        return read_json(outcome)

    def _reset(self, study: "Study", history: History) -> "Prunable":
        """Return C without the removed heads."""
        from weebill.pruning.cut import cut

        model = study.checkpoint(self.reset_to)
        cut(model, heads=history.removed_heads(model))
        return model

    def _candidates(self, model: "Prunable") -> "Candidates":
        from weebill.pruning.criteria import Candidates

        return Candidates.named(model, self.blocks, heads=True, neurons=False)
