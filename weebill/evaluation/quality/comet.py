"""Translation quality by COMET: all systems of a test set are scored together; scores are times 100, as in papers."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from weebill.evaluation.measurement import Measurement, Variant
from weebill.evaluation.quality.significance import (
    BOOTSTRAP_SEED,
    difference_of_means,
    interval,
    resampled_means,
)
from weebill.evaluation.quality.translation_file import Lines, check_lines
from weebill.evaluation.quality.translation_quality import Score, TestSet, measurement
from weebill.metric.folder import Metric
from weebill.metric.scorer import Scorer

METRIC = "COMET"


def caching_scorer(metric: Metric, precision: str, device: str, cache: str | Path) -> Scorer:
    """Return a scorer that keeps vectors in the file `cache`, if the metric has vectors of sentences."""
    together = metric.network.architecture.joint is not None
    return Scorer(metric, precision, device, None if together else cache)


def measure_comet(
    scorer: Scorer,
    test_set: TestSet,
    translations: Mapping[Variant, Lines],
    *,
    bootstrap: int,
    model_sha256: Mapping[Variant, str],
    seed: int,
) -> list[Measurement]:
    """Measure all variants, and test them against their baselines.  Raises InputError if line counts differ."""
    for variant, lines in translations.items():
        check_lines(lines, test_set.references, f"{variant} on '{test_set.name}'")
    systems = {str(variant): lines for variant, lines in translations.items()}
    references = test_set.references if scorer.needs_references else None
    sources = test_set.sources if scorer.needs_sources else None
    scores = scorer.score(systems, sources, references)
    table = 100 * np.stack([*scores.values()], axis=1).astype(np.float64)
    means, samples = table.mean(0), resampled_means(table, bootstrap)
    place = {variant: index for index, variant in enumerate(translations)}
    signature = (
        f"{scorer.metric.name}|sha256:{scorer.metric.sha256}|precision:{scorer.precision}"
        f"|bs:{bootstrap}|seed:{BOOTSTRAP_SEED}"
    )
    rows = []
    for variant, index in place.items():
        p_value, base = None, place.get(variant.baseline, index)
        if base != index:
            difference = float(means[index] - means[base])
            p_value = difference_of_means(samples[:, index], samples[:, base], difference).p_value
        found = Score(METRIC, float(means[index]), *interval(samples[:, index]), signature)
        rows.append(measurement(variant, test_set, found, p_value, model_sha256[variant], seed))
    return rows
