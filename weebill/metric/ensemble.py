"""Mean of several metrics' scores."""

from collections.abc import Sequence

import numpy as np

from weebill.metric.reader import Progress, precision_on
from weebill.metric.scorer import Scorer, Systems


class Ensemble:
    """One or more metrics, whose scores are averaged (COMETINHO §5: five metrics of different seeds)."""

    def __init__(self, models: Sequence[str], precision: str = "auto", device: str = "cpu") -> None:
        """Load metrics by `load_metric`.  Raises its errors and those of `Scorer`."""
        self._members = [Scorer(model, precision, device) for model in models]
        self.precision = precision_on(device, precision)
        self.sha256 = "+".join(one.metric.sha256 for one in self._members)
        self.needs_references = any(one.needs_references for one in self._members)

    def score(
        self,
        systems: Systems,
        sources: Sequence[str],
        references: Sequence[str],
        progress: Progress = lambda sentences: None,
    ) -> dict[str, np.ndarray]:
        """Return mean scores (segments,) of each system, in float64.  Raises the errors of `Scorer.score`."""
        found = [
            one.score(
                systems,
                sources if one.needs_sources else None,
                references if one.needs_references else None,
                progress=progress,
            )
            for one in self._members
        ]
        each = {name: [scores[name] for scores in found] for name in systems}
        return {name: np.mean(own, axis=0, dtype=np.float64) for name, own in each.items()}
