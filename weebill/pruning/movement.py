"""Structured movement pruning by learnt scores (TEXTGEN §3.3, after Sanh et al. 2020, Lagunas et al. 2021)."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from weebill.pruning.history import History
from weebill.pruning.method import ShareMethod
from weebill.pruning.movement_settings import MovementSettings
from weebill.settings import Amount

if TYPE_CHECKING:
    from weebill.pruning.structure import Prunable
    from weebill.pruning.study import Study


@dataclass(frozen=True)
class Movement(MovementSettings, ShareMethod):
    """Learn a score for each head and neuron, and mask a growing share of the lowest (TEXTGEN §3.3)."""

    label = "movement"
    reset_to: Amount = 25_000
    """Updates of training before the masks, 0 for a published student; the last training follows them."""

    @property
    def phases(self) -> dict[str, int]:
        return {"prune_updates": self.prune_updates}

    def shrink(self, study: "Study", work: Path) -> "tuple[Prunable, History]":
        """Train with the masks, and remove the masked parts.  Raises InputError if the settings remove nothing."""
        from weebill.pruning.movement_gates import MovementScoring, cut_silent

        model = study.checkpoint(self.reset_to)
        history = History(model, asdict(self))
        settings = {field.name: getattr(self, field.name) for field in fields(MovementSettings)}
        scoring = MovementScoring(**settings, seed=study.seed)
        scoring.companion(model)  # raises errors before the training starts
        phase = {"start_update": self.reset_to, "updates": self.prune_updates}
        study.train(model, **phase, work=work / "movement", companion=scoring)
        cut_silent(model, self, history)
        return model, history
