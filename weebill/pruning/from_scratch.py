"""Baseline of pruning: a student of the same shape and updates, from initial weights (Behnke and Heafield 2021)."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weebill.errors import nearest
from weebill.pruning.history import History
from weebill.pruning.method import Method, Problem
from weebill.settings import Name

if TYPE_CHECKING:
    from weebill.pruning.structure import Prunable
    from weebill.pruning.study import Study


@dataclass(frozen=True)
class FromScratch(Method):
    """Train the shape of another recipe's student from initial weights, for as many updates, as a baseline."""

    label = "from-scratch"
    baseline = "from scratch"
    like: Name
    """Recipe that makes the shape."""

    @property
    def shape_from(self) -> str:
        return self.like

    def conflicts(self, recipes: Mapping[str, Method]) -> Iterator[Problem]:
        """Find a shape that no recipe makes."""
        if self.like not in recipes:
            yield ("like",), f"no recipe '{self.like}' in pruning{nearest(self.like, recipes)}"
        elif recipes[self.like].shape_from is not None:
            found = f"found '{self.like}', which prunes nothing itself"
            yield ("like",), f"{found}, expected a recipe that does"

    def shrink(self, study: "Study", work: Path) -> "tuple[Prunable, History]":
        """Return an untrained student of the shape."""
        model = study.untrained()
        return model, History(model, asdict(self))
