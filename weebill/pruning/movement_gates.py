"""Scored gates of heads and neurons, which movement pruning trains beside a model (TEXTGEN §3.3).

The gates of the lowest scores are 0, a share that grows with training.  A gate's gradient goes straight through to
its score: summed over updates it says whether the weights behind the gate move away from zero.
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
from weebill.pruning.cut import cut
from weebill.pruning.gates import Block, gated, silent, write_gates
from weebill.pruning.history import History
from weebill.pruning.method import nothing_removed
from weebill.pruning.movement_settings import MovementSettings
from weebill.pruning.ranking import Ranking
from weebill.pruning.structure import Prunable
from weebill.pruning.study import Companion


@dataclass(frozen=True)
class MovementScoring(MovementSettings):
    """Settings of the companion of a training: those of the gates, and the seed of the first scores."""

    seed: int = 0

    def companion(self, model: Prunable) -> "MovementGates":
        """Make gates for this model.  Raises InputError where none would ever be 0."""
        return MovementGates(model, self)


def candidates_of(model: Prunable, settings: MovementSettings) -> Candidates:
    """Return the blocks that lose heads or neurons."""
    return Candidates.named(
        model, settings.blocks, heads=settings.heads > 0, neurons=settings.neurons > 0
    )


def cut_silent(model: Prunable, settings: MovementSettings, history: History) -> None:
    """Cut in place what finished gates left silent, and record it in the history."""
    candidates = candidates_of(model, settings)
    heads = {block.name: silent(block) for block in candidates.attention}
    neurons = {block.name: silent(block) for block in candidates.feed_forward}
    history.remove(heads, neurons)
    cut(model, heads, neurons)


class MovementGates(Companion):
    """The scored gates of a model's heads and neurons.

    `finish` writes those of the last update into the weights, so that `gates.silent` finds what goes.
    """

    def __init__(self, model: Prunable, settings: MovementScoring):
        super().__init__()
        self.settings, self.rate = settings, settings.score_rate
        found = candidates_of(model, settings)
        kinds = {
            "heads": (found.attention, [block.heads for block in found.attention]),
            "neurons": (found.feed_forward, [block.neurons for block in found.feed_forward]),
        }
        generator = torch.Generator().manual_seed(settings.seed)
        self.kinds = nn.ModuleDict(
            {
                kind: ScoredGates(blocks, widths, generator)
                for kind, (blocks, widths) in kinds.items()
                if sum(widths)
            }
        )
        self._close(settings.progress(settings.prune_updates))  # a look ahead
        if all(kind.open.all() for kind in self.kinds.values()):
            raise InputError(nothing_removed(settings))

    @contextmanager
    def attached(self) -> Iterator[None]:
        """The gates act."""
        with ExitStack() as stack:
            for kind in self.kinds.values():
                for place, block in enumerate(kind.blocks):
                    stack.enter_context(gated(block, partial(kind.gates, place)))
            yield

    def before_update(self, update: int) -> None:
        """Close the gates of the lowest scores, and open the others, until the shares are reached.

        From then on they stay: the loss asks more of a closed gate to open than of an open one to stay so,
        by which scores at the border overtake each other for ever, and no choice of gates is trained for long.
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


class ScoredGates(nn.Module):
    """A gate and its score for each head, or each neuron, of some blocks.

    Scores and gates of all blocks stand one after another, (n,) in float32.
    """

    def __init__(self, blocks: Sequence[Block], widths: Sequence[int], generator: torch.Generator):
        """widths: how many heads or neurons each block has; generator: of the first scores."""
        super().__init__()
        self.blocks, self.widths = list(blocks), list(widths)
        self.scores = nn.Parameter(torch.rand(sum(widths), generator=generator))
        self.register_buffer("open", torch.ones(sum(widths)))  # 1 or 0

    def gates(self, place: int) -> Tensor:
        """Of the block at this place, (h,) or (f,): their values are 1 or 0, their gradients the scores' own."""
        scores = self.scores.split(self.widths)[place]
        return self.open.split(self.widths)[place] + (scores - scores.detach())

    def close(self, share: float, ranking: Ranking) -> None:
        """Close the gates that `ranking.lowest_share` would choose by the scores, and open the others."""
        scores = self.scores.detach()
        self.open.fill_(1.0)
        groups = self.widths if ranking == "layer" else [len(scores)]
        for values, gates in zip(scores.split(groups), self.open.split(groups), strict=True):
            gates[values.argsort(stable=True)[: part_of(share, len(values))]] = 0.0
