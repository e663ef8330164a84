"""Robustness of metrics: how far scores fall when a number or a name in a translation is changed."""

from dataclasses import dataclass

import numpy as np

from weebill.evaluation.measurement import software_versions
from weebill.metric.judged_set import JudgedSet, MetricScores, bootstrap_interval


@dataclass(frozen=True)
class Robustness:
    """Reaction of a metric to one kind of damage in the translations of a judged set."""

    metric: str
    test_set: str
    damage: str  # of DAMAGES
    segments: int
    noticed: float  # share of damaged translations with a lower score than before
    noticed_low: float  # bounds of the 95 % bootstrap interval over sources
    noticed_high: float
    drop: float  # mean fall of the score, in standard deviations of the metric's scores of the set
    drop_low: float
    drop_high: float
    signature: str
    test_set_sha256: str
    resamples: int
    seed: int
    versions: dict[str, str]


def measure_robustness(
    judged: JudgedSet,
    damaged: JudgedSet,
    whole: MetricScores,
    after: MetricScores,
    *,
    resamples: int,
    seed: int,
) -> list[Robustness]:
    """Compare a metric's scores of damaged translations with those of the whole ones, for each kind of damage.

    damaged: set from `damaged_table`; whole, after: scores of `judged`, and of `damaged`.
    """
    kinds = damaged.judgements["system"].to_numpy()
    origins = np.array([int(one.rpartition(" ")[2]) for one in damaged.judgements["segment"]])
    found = []
    for kind in dict.fromkeys(kinds):
        rows = origins[kinds == kind]
        falls = whole.scores[rows] - after.scores[kinds == kind]
        sources = [judged.groups[row] for row in rows]
        shares = _shares(falls, whole.scores, sources, resamples, seed)
        found.append(
            Robustness(
                metric=whole.metric,
                test_set=judged.name,
                damage=str(kind),
                segments=len(rows),
                **shares,
                signature=after.signature,
                test_set_sha256=damaged.sha256,
                resamples=resamples,
                seed=seed,
                versions=software_versions(["numpy"]),
            )
        )
    return found


def _shares(
    falls: np.ndarray, scores: np.ndarray, sources: list[tuple[str, str]], resamples: int, seed: int
) -> dict[str, float]:
    """Return the share of falls (m,) and their mean in deviations of all scores, each with its interval."""
    drops = falls / (scores.std() or 1.0)
    shares = {}
    for name, values in {"noticed": (falls > 0).astype(float), "drop": drops}.items():
        bounds = bootstrap_interval(
            lambda drawn, values=values: float(values[drawn].mean()), sources, resamples, seed
        )
        shares |= {name: float(values.mean())}
        shares |= dict(zip((f"{name}_low", f"{name}_high"), bounds, strict=True))
    return shares
