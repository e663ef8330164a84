"""Movement pruning of a text-generating model, and its record: the schedule and what went (TEXTGEN §3.3).

The scores and gates are `weebill.pruning.movement`'s; here they accompany a training of the library's Trainer.
"""

from dataclasses import asdict
from typing import Any

from weebill.pruning.history import History
from weebill.pruning.movement_gates import MovementGates, MovementScoring, cut_silent
from weebill.pruning.ranking import part_of_blocks
from weebill.pruning.structure import Prunable

SCHEDULE_POINTS = 200  # of the record, at most


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
