"""Several metrics as one, whose score is the mean of theirs (COMETINHO §5: five, of different seeds)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weebill.metric.folder import load_metric
from weebill.metric.scorer import Scorer


@dataclass(frozen=True)
class Ensemble:
    """Each member has its own encoder; one alone is an ensemble too."""

    members: Sequence[Scorer]

    @classmethod
    def load(
        cls, models: Sequence[str], precision: str = "float32", device: str = "cpu"
    ) -> "Ensemble":
        """Of metrics as `load_metric` reads them.  Raises InputError as it does, and as `Scorer`."""
        return cls([Scorer(load_metric(model), precision, device) for model in models])

    @property
    def sha256(self) -> str:
        """The hashes of its members' weights."""
        return "+".join(member.metric.sha256 for member in self.members)

    @property
    def needs_references(self) -> bool:
        """Whether a member does."""
        return any(member.needs_references for member in self.members)

    def score(
        self,
        systems: Mapping[str, Sequence[str]],
        sources: Sequence[str],
        references: Sequence[str],
    ) -> dict[str, np.ndarray]:
        """Mean scores (segments,) of each system's translations, in float64; references are read where a member does.

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
