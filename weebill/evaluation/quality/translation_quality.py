"""Translation quality: BLEU and chrF by sacreBLEU, with intervals and significance.

Scores, signatures, bootstrap intervals and paired tests are sacreBLEU's own; nothing is reimplemented.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from sacrebleu.metrics import CHRF
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest

from weebill.bleu import bleu
from weebill.corpus.table import read_columns
from weebill.errors import InputError
from weebill.evaluation.measurement import (
    Measurement,
    Variant,
    software_versions,
    test_set_sha256,
)
from weebill.evaluation.quality.significance import BOOTSTRAP_SEED
from weebill.evaluation.quality.translation_file import check_lines


@dataclass(frozen=True)
class Score:
    """Corpus score with its 95 % bootstrap interval [low, high] around the resamples' mean."""

    metric: str
    score: float
    low: float
    high: float
    signature: str


@dataclass(frozen=True)
class TestSet:
    """Test set: sources and references, one line each per sentence."""

    __test__ = False  # not a test case, although pytest would think so from the name

    name: str
    sources: Sequence[str]
    references: Sequence[str]

    def __post_init__(self):
        if not self.references:
            raise InputError(
                f"test set '{self.name}' is empty; a score needs at least one sentence"
            )
        if len(self.sources) != len(self.references):
            raise InputError(
                f"test set '{self.name}': {len(self.sources)} sources and {len(self.references)} "
                "references; there must be one line per pair"
            )

    @classmethod
    def read(cls, name: str, table: str | Path) -> "TestSet":
        """Read a test set from its table.  Raises InputError if the table is damaged."""
        sides = read_columns(table, ["source", "target"])
        return cls(name, sides["source"].to_pylist(), sides["target"].to_pylist())

    @property
    def sha256(self) -> str:
        """Hash that identifies this text in measurements."""
        return test_set_sha256(self.sources, self.references)


def score(
    hypotheses: Sequence[str], references: Sequence[str], bootstrap: int, target: str | None = None
) -> list[Score]:
    """Compute BLEU and chrF of detokenised, cased text, with bootstrap intervals of `bootstrap` resamples.

    target: language code; it chooses sacreBLEU's tokeniser if the language needs its own (zh, ja, ko).
    Raises InputError if the line counts differ.
    """
    check_lines(hypotheses, references, "scoring")
    return [score_by(metric, hypotheses, references, bootstrap) for metric in _metrics(target)]


def score_by(
    metric: Metric, hypotheses: Sequence[str], references: Sequence[str], bootstrap: int
) -> Score:
    """Compute the score by one of sacreBLEU's metrics, with an interval of `bootstrap` resamples."""
    with bootstrap_seed():
        result = metric.corpus_score(hypotheses, [references], n_bootstrap=bootstrap)
    return Score(
        metric=_name(metric),
        score=result.score,
        low=float(result._mean - result._ci),
        high=float(result._mean + result._ci),
        signature=metric.get_signature().format(),
    )


def p_values(
    hypotheses: Sequence[str],
    baseline: Sequence[str],
    references: Sequence[str],
    bootstrap: int,
    target: str | None = None,
) -> dict[str, float]:
    """Return metric name → p-value of the difference to the baseline, by paired bootstrap resampling.

    Equal scores have p = 1, as no difference is smaller; sacreBLEU's strict inequality would give equal
    translations its smallest p.
    """
    check_lines(hypotheses, references, "significance")
    check_lines(baseline, references, "significance, baseline")
    metrics = _metrics(target)
    with bootstrap_seed():
        test = PairedTest(
            [("baseline", list(baseline)), ("system", list(hypotheses))],
            {_name(metric): metric for metric in metrics},
            [list(references)],
            test_type="bs",
            n_samples=bootstrap,
        )
        _, results = test()
    # Results are in the metrics' order, after the column of names; the key of chrF is "chrF2".
    columns = [column for key, column in results.items() if key != "System"]
    return {
        _name(metric): 1.0 if first.score == second.score else float(second.p_value)
        for metric, (first, second) in zip(metrics, columns, strict=True)
    }


def measure(
    variant: Variant,
    test_set: TestSet,
    hypotheses: Sequence[str],
    baseline: Sequence[str] | None,
    *,
    bootstrap: int,
    target: str,
    model_sha256: str,
    seed: int,
) -> list[Measurement]:
    """Measure one variant on one test set; return one row per metric.

    baseline: translations of the student's unpruned float32 model; None if there is nothing to compare with.
    """
    check_lines(hypotheses, test_set.references, f"{variant} on '{test_set.name}'")
    significance = {}
    if baseline is not None:
        significance = p_values(hypotheses, baseline, test_set.references, bootstrap, target)
    return [
        measurement(variant, test_set, result, significance.get(result.metric), model_sha256, seed)
        for result in score(hypotheses, test_set.references, bootstrap, target)
    ]


def measurement(
    variant: Variant,
    test_set: TestSet,
    found: Score,
    p_value: float | None,
    model_sha256: str,
    seed: int,
) -> Measurement:
    """Make the row of a score on a test set; p_value: of the difference to the baseline, None without one."""
    return Measurement(
        variant=str(variant),
        student=variant.student,
        recipe=variant.recipe,
        precision=variant.precision,
        test_set=test_set.name,
        sentences=len(test_set.references),
        compared_with=None if p_value is None else str(variant.baseline),
        p_value=p_value,
        test_set_sha256=test_set.sha256,
        model_sha256=model_sha256,
        seed=seed,
        versions=software_versions(),
        **asdict(found),  # metric, score, low, high, signature
    )


def _metrics(target: str | None) -> list:
    return [bleu(target or ""), CHRF()]


def _name(metric) -> str:
    return {"BLEU": "BLEU", "CHRF": "chrF"}[type(metric).__name__]


@contextmanager
def bootstrap_seed() -> Iterator[None]:
    """Set the seed of sacreBLEU's bootstrap within the block; sacreBLEU reads it only from the environment."""
    before = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(BOOTSTRAP_SEED)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SACREBLEU_SEED"]
        else:
            os.environ["SACREBLEU_SEED"] = before
