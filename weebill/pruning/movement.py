"""Structured movement pruning: scores learnt beside the weights tell which heads and neurons go (TEXTGEN §3.3).

After Sanh et al. 2020 and Lagunas et al. 2021.  Each head and neuron has a score and a gate; the gates of
the lowest scores are 0, a share that grows with training.  A gate's gradient goes straight through to its
score: summed over updates it says whether the weights behind the gate move away from zero.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from weebill.errors import InputError
from weebill.experiment.shares import part_of
from weebill.pruning.criteria import Candidates
from weebill.pruning.cut import cut
from weebill.pruning.gates import Block, gated, silent, write_gates
from weebill.pruning.history import History
from weebill.pruning.ranking import Ranking
from weebill.pruning.structure import Prunable
from weebill.pruning.study import Companion, Pruned, Study
from weebill.pruning.work_folder import pruning_work


@dataclass(frozen=True)
class MovementSettings:
    """heads, neurons: the shares that go, of those in `blocks`.

    score_rate: learning rate of the scores, the same throughout.  At a tenth of it, near the weights' own as
    TEXTGEN's code has it, neurons are still in the order of their first, random scores after 400 updates.
    reached_at: the part of `prune_updates` after which the shares have gone; the rest trains what stays.
    """

    heads: float = 0.3
    neurons: float = 0.6
    ranking: Ranking = "layer"  # the published code's: of 16 heads ⌊0.3 · 16⌋ = 4 go in each layer
    score_rate: float = 0.01  # Lagunas et al. 2021
    reached_at: float = 0.85
    prune_updates: int = 100_000  # the paper counts epochs
    blocks: str = "encoder.*"  # pattern of the names of the blocks; "*" is what the paper prunes

    def candidates(self, model: Prunable) -> Candidates:
        """The blocks that lose heads or neurons."""
        return Candidates.named(model, self.blocks, heads=self.heads > 0, neurons=self.neurons > 0)

    def progress(self, update: int) -> float:
        """The part of the final shares that is masked in an update, counted from 1."""
        time = min(1.0, update / (self.reached_at * self.prune_updates))
        return 1 - (1 - time) ** 3


@dataclass(frozen=True)
class Movement(MovementSettings):
    """Settings of the method."""

    reset_to: int = 25_000  # updates before it; the others of the training follow it

    def prune(self, study: Study, work: Path) -> Pruned:
        """The student without the heads and neurons of lowest score, trained on to convergence.

        work: as `late_reset.LateReset.prune`.  Raises InputError where neither head nor neuron goes.
        """
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
            candidates = self.candidates(model)
            heads = {block.name: silent(block) for block in candidates.attention}
            neurons = {block.name: silent(block) for block in candidates.feed_forward}
            history.remove(heads, neurons)
            cut(model, heads, neurons)
            course = study.train(
                model,
                start_update=self.reset_to + self.prune_updates,
                updates=None,
                work=work / "final",
            )
        return Pruned(model, history.to_dict(), course)


@dataclass(frozen=True)
class MovementScoring(MovementSettings):
    """The companion's settings: those of the method, and what the first scores are drawn from."""

    seed: int = 0

    def companion(self, model: Prunable) -> "MovementGates":
        """Gates for this model.  Raises InputError where none would ever be 0."""
        return MovementGates(model, self)


class MovementGates(Companion):
    """The scored gates of a model's heads and neurons.

    `finish` writes those of the last update into the weights, so that `gates.silent` finds what goes.
    """

    def __init__(self, model: Prunable, settings: MovementScoring):
        super().__init__()
        self.settings, self.rate = settings, settings.score_rate
        found = settings.candidates(model)
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
            raise InputError(
                f"pruning: heads {settings.heads} and neurons {settings.neurons} of blocks "
                f"'{settings.blocks}' are none; raise one, or mend the pattern"
            )

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
