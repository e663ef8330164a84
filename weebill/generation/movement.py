"""Movement pruning of a text-generating model, with a record of its schedule and the removed parts (TEXTGEN §3.3).

Scores and gates are those of `weebill.pruning.movement_gates`; here the library's Trainer trains them.
"""

from dataclasses import asdict
from typing import Any

from weebill.pruning.history import History
from weebill.pruning.movement_gates import MovementGates, MovementScoring, cut_silent
from weebill.pruning.ranking import part_of_blocks
from weebill.pruning.structure import Prunable

SCHEDULE_POINTS = 200  # largest number of rows in the record


def cut_and_record(
    model: Prunable, gates: MovementGates, settings: MovementScoring
) -> dict[str, Any]:
    """Cut the parts that the finished gates made silent, in place; return the record as plain values.

    schedule: rows {"update", "heads", "neurons"} with the masked shares.  scores: block name → the last score of each
    head or neuron.  The other entries are those of `history.History`.
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
    """Return the masked shares of heads and neurons in the course of the training."""
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
