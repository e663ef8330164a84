"""Movement pruning of a text-generating model, and its record: the schedule and what went (TEXTGEN §3.3).

The scores and gates are `weebill.pruning.movement`'s; here they accompany a training of the library's Trainer.
"""

from dataclasses import asdict, dataclass
from typing import Any

from weebill.hugging_face.families import prunable
from weebill.pruning.history import History
from weebill.pruning.movement import MovementScoring
from weebill.pruning.movement_gates import MovementGates, cut_silent
from weebill.pruning.ranking import Ranking, part_of_blocks
from weebill.pruning.structure import Prunable

SCHEDULE_POINTS = 200  # of the record, at most


@dataclass(frozen=True)
class MovementShares:
    """How much goes; see `weebill.pruning.movement.MovementSettings`.  Defaults are the paper's."""

    heads: float = 0.3
    neurons: float = 0.6
    ranking: Ranking = "layer"
    score_rate: float = 0.01
    reached_at: float = 0.85
    blocks: str = "*"

    def scoring(self, updates: int, seed: int) -> MovementScoring:
        """The companion's settings in a training of so many updates."""
        return MovementScoring(**asdict(self), prune_updates=updates, seed=seed)


def cut_and_record(
    model: Prunable, gates: MovementGates, settings: MovementScoring
) -> dict[str, Any]:
    """Cut what the finished gates left silent, in place; returns the record, plain values.

    schedule: rows {"update", "heads", "neurons"}: the shares that were masked.  scores: block name → the last
    score of each head or neuron.  Further as `history.History`.
    """
    history = History(model, asdict(settings))
    cut_silent(model, settings, history)
    scores = {
        name: {
            block.name: values.tolist()
            for block, values in zip(
                kind.blocks, kind.scores.detach().cpu().split(kind.widths), strict=True
            )
        }
        for name, kind in gates.kinds.items()
    }
    return {**history.to_dict(), "schedule": schedule(gates, settings), "scores": scores}


def schedule(gates: MovementGates, settings: MovementScoring) -> list[dict[str, float]]:
    """The shares of heads and neurons that were masked in the course of the training."""
    updates = settings.prune_updates
    step = max(1, updates // SCHEDULE_POINTS)
    rows = []
    for update in sorted({*range(1, updates + 1, step), updates}):
        progress = settings.progress(update)
        row: dict[str, float] = {"update": update}
        for name, kind in gates.kinds.items():
            share = getattr(settings, name) * progress
            masked = part_of_blocks(share, kind.widths, settings.ranking)
            row[name] = masked / sum(kind.widths)
        rows.append(row)
    return rows


def movement_gates(model: Any, settings: MovementScoring) -> MovementGates:
    """The gates of a model of a family.  Raises InputError where it is of none, or none would ever be 0."""
    return settings.companion(prunable(model))
