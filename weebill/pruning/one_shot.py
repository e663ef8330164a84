"""One-shot pruning by a criterion (COMETINHO §4.2, after TextPruner), and baselines for other methods."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from weebill.errors import InputError
from weebill.pruning.history import History
from weebill.pruning.method import (
    AtOnce,
    BlockPattern,
    Criterion,
    Method,
    Problem,
    Ranking,
    ShareMethod,
    lowest_share,
    nothing_removed,
)
from weebill.settings import Amount, Share

if TYPE_CHECKING:
    from weebill.pruning.structure import Prunable
    from weebill.pruning.study import Study


@dataclass(frozen=True)
class OneShot(AtOnce, ShareMethod):
    """Remove shares of heads and neurons at once (COMETINHO §4.2)."""

    criterion: Criterion = "gradient"
    """Score of heads and neurons; the lowest are removed first: `gradient` (their effect on the loss), `magnitude`
    (norm of their weights), a `random` choice, or for heads alone `confidence` (the largest attention weight of a
    head, on average)."""
    heads: Share = 0.0
    """Share of the heads of `blocks` to remove."""
    neurons: Share = 0.0
    """Share of the feed-forward neurons of `blocks` to remove."""
    ranking: Ranking = "global"
    """Remove the lowest of all blocks together, or with `layer` the same share of each block."""
    reset_to: Amount = 25_000
    """Updates of training before the removal; 0 for a published student."""
    blocks: BlockPattern = "encoder.*"
    """Pattern of the names of the blocks, such as `*.feed_forward`."""

    @property
    def label(self) -> str:
        return f"one-shot, {self.criterion}"

    def conflicts(self, recipes: Mapping[str, Method]) -> Iterator[Problem]:
        """Find a criterion that cannot score the parts to remove."""
        if self.criterion == "confidence" and self.neurons:
            found = "found confidence with neurons"
            yield ("criterion",), f"{found}, expected another: it scores heads, not neurons"

    def cut(self, study: "Study", model: "Prunable") -> History:
        """Remove the heads and neurons of the lowest scores.  Raises InputError if the shares remove nothing."""
        from weebill.pruning.criteria import CRITERIA, Candidates
        from weebill.pruning.cut import cut

        candidates = Candidates.named(model, self.blocks, self.heads, self.neurons)
        scores = CRITERIA[self.criterion](study, model, candidates)
        heads = lowest_share(scores.heads, self.heads, self.ranking, candidates.protected)
        neurons = lowest_share(scores.neurons, self.neurons, self.ranking)
        if not any(heads.values()) and not any(neurons.values()):
            raise InputError(nothing_removed(self))
        history = History(model, asdict(self))
        history.remove(heads, neurons, scores.heads)
        cut(model, heads, neurons)
        return history
