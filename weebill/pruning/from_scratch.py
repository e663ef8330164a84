"""Baseline of pruning: a student with the shape of a pruned one, trained from its first weights.

It has as many updates.  Pruning is worth its cost only if the pruned student is better (Behnke and Heafield 2021).
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weebill.errors import nearest
from weebill.pruning.history import History
from weebill.pruning.method import Method, Problem, Pruned
from weebill.pruning.work_folder import pruning_work
from weebill.settings import Name

if TYPE_CHECKING:
    from weebill.pruning.study import Study


@dataclass(frozen=True)
class FromScratch(Method):
    """Train the shape of another recipe's student from first weights, for as many updates, as a baseline."""

    label = "from-scratch"
    baseline = "from scratch"
    like: Name
    """Recipe that makes the shape."""

    @property
    def shape_from(self) -> str:
        """Recipe that makes the shape."""
        return self.like

    def conflicts(self, recipes: Mapping[str, Method]) -> Iterator[Problem]:
        """Find a shape that no recipe makes."""
        if self.like not in recipes:
            yield ("like",), f"no recipe '{self.like}' in pruning{nearest(self.like, recipes)}"
        elif recipes[self.like].shape_from is not None:
            message = (
                f"found '{self.like}', which prunes nothing itself, expected a recipe that does"
            )
            yield ("like",), message

    def prune(self, study: "Study", work: Path) -> Pruned:
        """Train a student of the shape of the study's start to convergence; see `Method.prune`."""
        with pruning_work(self, study, work):
            model = study.untrained()
            history = History(model, asdict(self))
            course = study.train(model, start_update=0, updates=None, work=work / "final")
        return Pruned(model, history.to_dict(), course)
