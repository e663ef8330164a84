"""Everything measured of a metric experiment, for its tables, figures and page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weebill.evaluation.quality.metric_quality import Agreement
from weebill.evaluation.size.metric_size import MetricSize
from weebill.evaluation.timing.metric_speed import MetricSpeed
from weebill.files import read_json


@dataclass(frozen=True)
class MetricResults:
    """Everything measured of an experiment; config: what its tables need of it."""

    config: Mapping[str, Any]
    agreements: Sequence[Agreement]
    sizes: Sequence[MetricSize]
    speeds: Sequence[MetricSpeed] = ()

    def agreement(self, metric: str, test_set: str) -> Agreement | None:
        """Of a metric on a judged set."""
        found = (a for a in self.agreements if (a.metric, a.test_set) == (metric, test_set))
        return next(found, None)

    def size(self, metric: str) -> MetricSize | None:
        """Of a metric that is one model."""
        return next((one for one in self.sizes if one.metric == metric), None)

    def seconds(self, study: str, metric: str, way: str, amount: int) -> float | None:
        """The median of one way to score so much."""
        key = (study, metric, way, amount)
        found = (s for s in self.speeds if (s.study, s.metric, s.way, s.amount) == key)
        return next((one.median for one in found), None)

    @property
    def metrics(self) -> list[str]:
        """The metrics of the test sets, in their order."""
        sets = self.config["test_sets"]
        return list(dict.fromkeys(a.metric for a in self.agreements if a.test_set in sets))


def read_results(config: Mapping[str, Any], files: Any) -> MetricResults:
    """From the files of a rule's input: agreements, sizes, speed, each a list of paths."""
    return MetricResults(
        config,
        [Agreement(**row) for path in files.agreements for row in read_json(path)],
        [MetricSize(**read_json(path)) for path in files.sizes],
        [MetricSpeed(**row) for path in files.speed for row in read_json(path)],
    )
