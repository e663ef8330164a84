"""Quality of metrics: their agreement with people, compared with that of the metrics they were made from."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from weebill.errors import InputError
from weebill.evaluation.measurement import software_versions
from weebill.metric.judged_set import JudgedSet, MetricScores


@dataclass(frozen=True)
class Agreement:
    """Agreement of a metric with people on a judged test set; None: undefined, as for equal scores."""

    metric: str
    test_set: str
    statistic: str  # mqm or darr
    tau: float | None
    low: float | None  # bounds of the 95 % bootstrap interval
    high: float | None
    segments: int
    pairs: int | None  # of darr
    compared_with: str | None
    difference: float | None  # tau minus that of the metric compared with
    p_value: float | None  # permutation
    signature: str  # of the metric: sacreBLEU's, or the model's hash and its precision
    test_set_sha256: str
    resamples: int
    seed: int
    versions: dict[str, str]
    difference_low: float | None = None  # bounds of its 95 % bootstrap interval
    difference_high: float | None = None


def measure_agreement(
    judged: JudgedSet,
    metrics: list[MetricScores],
    compared_with: Mapping[str, str],
    *,
    resamples: int,
    permutations: int,
    seed: int,
) -> list[Agreement]:
    """Measure the agreement of every metric; compared_with: metric → another one of `metrics`.

    Raises InputError if a metric does not have one score for each segment.
    """
    by_name = {one.metric: one for one in metrics}
    for one in metrics:
        if one.scores.shape != (len(judged.judgements),):
            raise InputError(
                f"{one.metric} on {judged.name}: {len(one.scores):,} scores for "
                f"{len(judged.judgements):,} segments; score the set again"
            )
    found = []
    for one in metrics:
        other = by_name.get(compared_with.get(one.metric, ""))
        figures = {"tau": judged.tau(one.scores), "difference": math.nan, "p_value": math.nan}
        figures["low"], figures["high"] = judged.interval(one.scores, resamples, seed)
        if other:
            figures["difference"] = figures["tau"] - judged.tau(other.scores)
            bounds = judged.interval(one.scores, resamples, seed, other.scores)
            figures["difference_low"], figures["difference_high"] = bounds
            figures["p_value"] = judged.p_value(one.scores, other.scores, permutations, seed)
        found.append(
            Agreement(
                metric=one.metric,
                test_set=judged.name,
                statistic=judged.statistic,
                segments=len(judged.judgements),
                pairs=len(judged.pairs.better) if judged.statistic == "darr" else None,
                compared_with=other.metric if other else None,
                # JSON has no NaN
                **{name: None if math.isnan(x) else x for name, x in figures.items()},
                signature=one.signature,
                test_set_sha256=judged.sha256,
                resamples=resamples,
                seed=seed,
                versions=software_versions(["scipy", "numpy"]),
            )
        )
    return found
