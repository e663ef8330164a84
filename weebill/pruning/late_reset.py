"""Prune heads step by step in training, with late resetting (WNGT20 §4, after Frankle et al. 2019).

Train for a while to a checkpoint C.  Then again and again: train on, remove the least confident
heads, put what remains back to C.  At last train what remains to convergence.
"""

import logging
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from weebill.errors import InputError
from weebill.files import read_json, write_json
from weebill.pruning.criteria import CRITERIA, Candidates
from weebill.pruning.cut import cut
from weebill.pruning.history import History
from weebill.pruning.ranking import BlockScores, Scores, lowest
from weebill.pruning.structure import Prunable
from weebill.pruning.study import Pruned, Study
from weebill.pruning.work_folder import pruning_work


@dataclass(frozen=True)
class LateReset:
    """The schedule: 3 heads an iteration are the paper's Steady, 6 its Pushy."""

    heads_per_iteration: int = 3
    iterations: int = 12  # 36 of the 48 encoder heads of Tiny
    criterion: str = "confidence"  # the paper's; another, to compare with
    reset_to: int = 25_000  # updates behind C
    iteration_updates: int = 15_000
    blocks: str = "encoder.*"  # pattern of the names of the attention blocks that lose heads

    def prune(self, study: Study, work: Path) -> Pruned:
        """The student without the heads of lowest score, trained to convergence.

        Its history says which heads went in which iteration, at what score, and which are left.
        work: holds finished iterations and unfinished training, so that a run killed anywhere goes on
        to the same result.  It is emptied first where it was begun by another schedule, study or code.
        Raises InputError where the student has fewer heads than the schedule removes.
        """
        with pruning_work(self, study, work):
            history = self._begin(study.checkpoint(self.reset_to))
            for number in range(1, self.iterations + 1):
                scores = self._scores(study, history, work / f"iteration-{number:02d}")
                removed = {name: [] for name in scores}
                for name, head in lowest(scores, self.heads_per_iteration):
                    removed[name].append(head)
                history.remove(removed, scores=Scores(heads=scores))
                logging.info("iteration %d of %d done", number, self.iterations)
            model = self._reset(study, history)
            course = study.train(
                model, start_update=self.reset_to, updates=None, work=work / "final"
            )
        return Pruned(model, history.to_dict(), course)

    def _begin(self, model: Prunable) -> History:
        """The history of the whole student, which must have heads enough."""
        asked = self.heads_per_iteration * self.iterations
        found = sum(block.heads for block in self._candidates(model).attention)
        if asked > found:
            raise InputError(
                f"pruning: {self.iterations} iterations of {self.heads_per_iteration} heads remove "
                f"{asked}, but the student has {found} in blocks '{self.blocks}'; remove fewer"
            )
        return History(model, asdict(self))

    def _scores(self, study: Study, history: History, work: Path) -> BlockScores:
        """Train the survivors from C, and score each."""
        outcome = work / "scores.json"
        if not outcome.is_file():
            model = self._reset(study, history)
            study.train(
                model,
                start_update=self.reset_to,
                updates=self.iteration_updates,
                work=work / "training",
            )
            scores = CRITERIA[self.criterion](study, model, self._candidates(model))
            write_json(outcome, scores.heads)
        shutil.rmtree(work / "training", ignore_errors=True)
        return read_json(outcome)

    def _reset(self, study: Study, history: History) -> Prunable:
        """C without the heads that went."""
        model = study.checkpoint(self.reset_to)
        cut(model, heads=history.removed_heads(model))
        return model

    def _candidates(self, model: Prunable) -> Candidates:
        return Candidates.named(model, self.blocks, heads=True, neurons=False)
