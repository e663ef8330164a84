"""Structured movement pruning: scores learnt beside the weights tell which heads and neurons go (TEXTGEN §3.3).

After Sanh et al. 2020 and Lagunas et al. 2021.  Each head and neuron has a score and a gate; see `movement_gates`.
"""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Gt, Le

from weebill.pruning.history import History
from weebill.pruning.method import BlockPattern, Count, Pruned, Share, ShareMethod
from weebill.pruning.ranking import Ranking
from weebill.pruning.structure import Prunable
from weebill.pruning.study import Study
from weebill.pruning.work_folder import pruning_work

if TYPE_CHECKING:
    from weebill.pruning.movement_gates import MovementGates
    from weebill.pruning.structure import Prunable
    from weebill.pruning.study import Study


@dataclass(frozen=True)
class MovementShares:
    """Shares that are removed, and how the gates come to them; defaults are the paper's."""

    heads: Share = 0.3
    """Share of the heads of `blocks` that is removed."""
    neurons: Share = 0.6
    """Share of the feed-forward neurons of `blocks` that is removed."""
    ranking: Ranking = "layer"
    """As for one-shot; the published code ranks by layer: of 16 heads ⌊0.3 · 16⌋ = 4 are removed from each."""
    score_rate: Annotated[float, Gt(0)] = 0.01
    """Learning rate of the scores, the same throughout (Lagunas et al. 2021).

    At a tenth of it, near the weights' own as TEXTGEN's code has it, neurons are still in the order of their first,
    random scores after 400 updates.
    """
    reached_at: Annotated[float, Gt(0), Le(1)] = 0.85
    """Part of the updates with masks after which the shares are masked; the rest trains what stays."""
    blocks: BlockPattern = "encoder.*"
    """Pattern of the names of the blocks; the paper prunes `*`."""


@dataclass(frozen=True)
class MovementSettings(MovementShares):
    """Settings of the gates of a training."""

    prune_updates: Count = 100_000
    """Updates with masks; the paper counts epochs."""

    def progress(self, update: int) -> float:
        """The part of the final shares that is masked in an update, counted from 1."""
        time = min(1.0, update / (self.reached_at * self.prune_updates))
        return 1 - (1 - time) ** 3


@dataclass(frozen=True)
class Movement(MovementSettings, ShareMethod):
    """Learn a score for each head and neuron while ever more of the lowest are masked (TEXTGEN §3.3)."""

    reset_to: Count = 25_000
    """Updates of training before the masks; the last training follows them."""

    @property
    def label(self) -> str:
        """See `Method`."""
        return "movement"

    @property
    def phases(self) -> dict[str, int]:
        """The updates with masks."""
        return {"prune_updates": self.prune_updates}

    def prune(self, study: "Study", work: Path) -> Pruned:
        """Prune the student of a study; see `Method.prune`.

        Raises InputError where neither head nor neuron goes.
        """
        from weebill.pruning.movement_gates import cut_silent

        with pruning_work(self, study, work):
            model = study.checkpoint(self.reset_to)
            history = History(model, asdict(self))
            settings = {field.name: getattr(self, field.name) for field in fields(MovementSettings)}
            scoring = MovementScoring(**settings, seed=study.seed)
            scoring.companion(model)  # refuses before anything is trained
            study.train(
                model,
                start_update=self.reset_to,
                updates=self.prune_updates,
                work=work / "movement",
                companion=scoring,
            )
            cut_silent(model, self, history)
            course = study.train(
                model,
                start_update=self.reset_to + self.prune_updates,
                updates=None,
                work=work / "final",
            )
        return Pruned(model, history.to_dict(), course)


@dataclass(frozen=True)
class MovementScoring(MovementSettings):
    """Settings of the companion of a training: those of the gates, and the seed of the first scores."""

    seed: int = 0

    def companion(self, model: "Prunable") -> "MovementGates":
        """Make gates for this model.  Raises InputError where none would ever be 0."""
        from weebill.pruning.movement_gates import MovementGates

        return MovementGates(model, self)
