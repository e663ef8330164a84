"""Scored gates of heads and neurons, which movement pruning trains together with a model (TEXTGEN §3.3).

The gates of the lowest scores are 0; their share grows during training.  The gradient of a gate is also the
gradient of its score.  Its sum over updates shows if the weights behind the gate move away from zero.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from weebill.errors import InputError
from weebill.experiment.shares import part_of
from weebill.pruning.criteria import Candidates
from weebill.pruning.cut import Block, cut, gated, silent, write_gates
from weebill.pruning.history import History
from weebill.pruning.method import Ranking, nothing_removed, part_of_blocks
from weebill.pruning.movement_settings import MovementSettings
from weebill.pruning.structure import Prunable
from weebill.pruning.study import Companion

SCHEDULE_POINTS = 200  # largest number of rows in a schedule


@dataclass(frozen=True)
class MovementScoring(MovementSettings):
    """Settings of a training's companion: the settings of the gates, and the seed of the initial scores."""

    seed: int = 0

    def companion(self, model: Prunable) -> "MovementGates":
        """Make gates for this model.  Raises InputError if no gate would ever be 0."""
        return MovementGates(model, self)


def cut_silent(model: Prunable, settings: MovementSettings, history: History) -> None:
    """Cut in place the heads and neurons that finished gates made silent, and record this in the history."""
    candidates = Candidates.named(model, settings.blocks, settings.heads, settings.neurons)
    heads = {block.name: silent(block) for block in candidates.attention}
    neurons = {block.name: silent(block) for block in candidates.feed_forward}
    history.remove(heads, neurons)
    cut(model, heads, neurons)


class MovementGates(Companion):
    """Scored gates of a model's heads and neurons; `finish` writes them into the weights for `silent`."""

    def __init__(self, model: Prunable, settings: MovementScoring):
        super().__init__()
        self.settings, self.rate = settings, settings.score_rate
        found = Candidates.named(model, settings.blocks, settings.heads, settings.neurons)
        generator = torch.Generator().manual_seed(settings.seed)
        self.kinds = nn.ModuleDict()
        if sum(widths := [block.heads for block in found.attention]):
            self.kinds["heads"] = ScoredGates(found.attention, widths, generator)
        if sum(widths := [block.neurons for block in found.feed_forward]):
            self.kinds["neurons"] = ScoredGates(found.feed_forward, widths, generator)
        self._close(settings.progress(settings.prune_updates))  # as at the end, for the check below
        if all(kind.open.all() for kind in self.kinds.values()):
            raise InputError(nothing_removed(settings))

    @contextmanager
    def attached(self) -> Iterator[None]:
        with ExitStack() as stack:
            for kind in self.kinds.values():
                for place, block in enumerate(kind.blocks):
                    stack.enter_context(gated(block, partial(kind.gates, place)))
            yield

    def before_update(self, update: int) -> None:
        """Close the gates of the lowest scores, and open the others, until the final shares are reached.

        After that the gates do not change.  The gradient raises the score of a closed gate more than that of an open
        one, so scores at the border would overtake each other for ever, and no choice would be trained for long.
        """
        if self.settings.progress(update - 1) < 1:
            self._close(self.settings.progress(update))

    def _close(self, progress: float) -> None:
        for name, kind in self.kinds.items():
            kind.close(getattr(self.settings, name) * progress, self.settings.ranking)

    def finish(self) -> None:
        """Zero the columns of `out` and `outer` behind closed gates."""
        for kind in self.kinds.values():
            for block, open_gates in zip(kind.blocks, kind.open.split(kind.widths), strict=True):
                write_gates(block, open_gates)

    def schedule(self) -> list[dict[str, float]]:
        """Return rows {"update", "heads", "neurons"} with the masked shares in the course of the training."""
        settings, updates = self.settings, self.settings.prune_updates
        rows = []
        for update in sorted({*range(1, updates + 1, max(1, updates // SCHEDULE_POINTS)), updates}):
            row: dict[str, float] = {"update": update}
            for name, kind in self.kinds.items():
                share = getattr(settings, name) * settings.progress(update)
                row[name] = part_of_blocks(share, kind.widths, settings.ranking) / sum(kind.widths)
            rows.append(row)
        return rows

    def last_scores(self) -> dict[str, dict[str, list[float]]]:
        """Return block name → the last score of each head or neuron, by kind."""
        found = {}
        for name, kind in self.kinds.items():
            pairs = zip(kind.blocks, kind.scores.detach().cpu().split(kind.widths), strict=True)
            found[name] = {block.name: values.tolist() for block, values in pairs}
        return found


class ScoredGates(nn.Module):
    """One gate and one score for each head, or neuron, of some blocks: concatenated, (n,) in float32."""

    def __init__(self, blocks: Sequence[Block], widths: Sequence[int], generator: torch.Generator):
        """Draw the initial scores from `generator`; widths: number of heads or neurons of each block."""
        super().__init__()
        self.blocks, self.widths = list(blocks), list(widths)
        self.scores = nn.Parameter(torch.rand(sum(widths), generator=generator))
        self.register_buffer("open", torch.ones(sum(widths)))  # 1 or 0
        stays = [
            part in getattr(block, "protected", ())
            for block, width in zip(blocks, widths, strict=True)
            for part in range(width)
        ]
        self.register_buffer("stays", torch.tensor(stays, dtype=torch.bool), persistent=False)

    def gates(self, place: int) -> Tensor:
        """Return the gates (h,) or (f,) of the block at this place: 1 or 0, with gradients to the scores."""
        scores = self.scores.split(self.widths)[place]
        return self.open.split(self.widths)[place] + (scores - scores.detach())

    def close(self, share: float, ranking: Ranking) -> None:
        """Close the gates that `method.lowest_share` would choose by the scores, and open the others."""
        scores = self.scores.detach().masked_fill(self.stays, torch.inf)
        self.open.fill_(1.0)
        groups = self.widths if ranking == "layer" else [len(scores)]
        for values, gates in zip(scores.split(groups), self.open.split(groups), strict=True):
            gates[values.argsort(stable=True)[: part_of(share, len(values))]] = 0.0
