"""Settings of movement pruning that its method and its gates share (TEXTGEN §3.3)."""

from dataclasses import dataclass

from weebill.pruning.method import BlockPattern, Ranking
from weebill.settings import Count, NonZeroShare, Positive, Share


@dataclass(frozen=True)
class MovementShares:
    """Shares to remove, and the schedule by which the gates reach them; defaults are the paper's."""

    heads: Share = 0.3
    """Share of the heads of `blocks` to remove."""
    neurons: Share = 0.6
    """Share of the feed-forward neurons of `blocks` to remove."""
    ranking: Ranking = "layer"
    """Remove the same share of each block (`layer`, like the published code: ⌊0.3 · 16⌋ = 4 of 16 heads), or the
    lowest of all blocks together (`global`)."""
    score_rate: Positive = 0.01
    """Constant learning rate of the scores (Lagunas et al. 2021).

    With a tenth of it, near the rate of the weights as in TEXTGEN's code, neurons still have the order of their
    random initial scores after 400 updates.
    """
    reached_at: NonZeroShare = 0.85
    """Part of the updates with masks after which the full shares are masked; the other updates train the rest."""
    blocks: BlockPattern = "encoder.*"
    """Pattern of the names of the blocks; the paper prunes `*`."""


@dataclass(frozen=True)
class MovementSettings(MovementShares):
    """Settings of the gates in a training."""

    prune_updates: Count = 100_000
    """Updates with masks; the paper counts epochs."""

    def progress(self, update: int) -> float:
        """Return the fraction of the final shares that is masked in an update, counted from 1."""
        time = min(1.0, update / (self.reached_at * self.prune_updates))
        return 1 - (1 - time) ** 3
