"""Remove a share of heads and neurons at once, by a criterion, and train what remains to convergence.

With `gradient` it is COMETINHO's recipe (§4.2, after TextPruner); with `magnitude` and `random` the
baselines that other methods are to beat.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

from weebill.errors import InputError
from weebill.pruning.criteria import CRITERIA, Candidates
from weebill.pruning.cut import cut
from weebill.pruning.history import History
from weebill.pruning.ranking import Ranking, lowest_share
from weebill.pruning.study import Pruned, Study
from weebill.pruning.work_folder import pruning_work


@dataclass(frozen=True)
class OneShot:
    """heads, neurons: the shares that go, of those in `blocks`."""

    criterion: str = "gradient"
    heads: float = 0.0
    neurons: float = 0.0
    ranking: Ranking = "global"
    reset_to: int = 25_000  # updates before it; the others of the training follow it
    blocks: str = "encoder.*"  # pattern of the names of the blocks

    def prune(self, study: Study, work: Path) -> Pruned:
        """The student without the lowest of its heads and neurons, trained to convergence.

        work: as `late_reset.LateReset.prune`.  Raises InputError where neither head nor neuron goes.
        """
        with pruning_work(self, study, work):
            model = study.checkpoint(self.reset_to)
            candidates = Candidates.named(
                model, self.blocks, heads=self.heads > 0, neurons=self.neurons > 0
            )
            scores = CRITERIA[self.criterion](study, model, candidates)
            heads = lowest_share(scores.heads, self.heads, self.ranking)
            neurons = lowest_share(scores.neurons, self.neurons, self.ranking)
            if not any(heads.values()) and not any(neurons.values()):
                raise InputError(
                    f"pruning: heads {self.heads} and neurons {self.neurons} of blocks '{self.blocks}' are "
                    "none; raise one, or mend the pattern"
                )
            history = History(model, asdict(self))
            history.remove(heads, neurons, scores)
            cut(model, heads, neurons)
            course = study.train(
                model, start_update=self.reset_to, updates=None, work=work / "final"
            )
        return Pruned(model, history.to_dict(), course)
