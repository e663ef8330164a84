"""Train a student of a pruned one's shape from its first weights, for as many updates.

What pruning is worth: a pruned student is to be better than this one (Behnke and Heafield 2021).
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from weebill.pruning.history import History
from weebill.pruning.study import Pruned, Study
from weebill.pruning.work_folder import pruning_work


@dataclass(frozen=True)
class FromScratch:
    """like: the recipe that made the shape."""

    like: str
    reset_to: ClassVar[int] = 0  # it begins anew

    def prune(self, study: Study, work: Path) -> Pruned:
        """A student of the shape of the study's start, trained to convergence.

        work: as `late_reset.LateReset.prune`.
        """
        with pruning_work(self, study, work):
            model = study.untrained()
            history = History(model, asdict(self))
            course = study.train(model, start_update=0, updates=None, work=work / "final")
        return Pruned(model, history.to_dict(), course)
