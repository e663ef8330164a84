"""Ensembles of metrics, whose score is the mean (COMETINHO §5: five metrics of different seeds)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weebill.metric.folder import load_metric
from weebill.metric.scorer import Scorer


@dataclass(frozen=True)
class Ensemble:
    """One or more metrics, each with its own encoder."""

    members: Sequence[Scorer]

    @classmethod
    def load(
        cls, models: Sequence[str], precision: str = "float32", device: str = "cpu"
    ) -> "Ensemble":
        """Load metrics by `load_metric`.  Raises InputError as it does, and as `Scorer`."""
        return cls([Scorer(load_metric(model), precision, device) for model in models])

    @property
    def sha256(self) -> str:
        """Hashes of the members' weights."""
        return "+".join(member.metric.sha256 for member in self.members)

    @property
    def needs_references(self) -> bool:
        """True if any member needs references."""
        return any(member.needs_references for member in self.members)

    def score(
        self,
        systems: Mapping[str, Sequence[str]],
        sources: Sequence[str],
        references: Sequence[str],
    ) -> dict[str, np.ndarray]:
        """Return mean scores (segments,) of each system, in float64; references serve the members that need them.

        Raises InputError as `Scorer.score`.
        """
        found = [
            member.score(systems, sources, references if member.needs_references else None)
            for member in self.members
        ]
        return {
            name: np.mean([one[name] for one in found], axis=0, dtype=np.float64)
            for name in systems
        }
