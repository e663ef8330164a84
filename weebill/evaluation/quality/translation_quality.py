"""Translation quality: BLEU and chrF with intervals and significance, all of them sacreBLEU's own."""

from dataclasses import asdict, dataclass
from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import _bootstrap_resample

from weebill.bleu import bleu
from weebill.corpus.table import read_columns
from weebill.errors import InputError
from weebill.evaluation.measurement import Measurement, Variant, software_versions
from weebill.evaluation.quality.significance import BOOTSTRAP_SEED, Difference, paired_difference
from weebill.evaluation.quality.translation_file import Lines, check_lines
from weebill.evaluation.this_process import environment
from weebill.files import sha256_text

SEED = {"SACREBLEU_SEED": str(BOOTSTRAP_SEED)}  # sacreBLEU reads it only from the environment


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
    sources: Lines
    references: Lines

    def __post_init__(self):
        if not self.references:
            message = f"test set '{self.name}' is empty; a score needs at least one sentence"
            raise InputError(message)
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
        """SHA-256 of the text: one line "source<TAB>reference" per pair, each ending in a newline."""
        pairs = zip(self.sources, self.references, strict=True)
        return sha256_text("".join(f"{source}\t{reference}\n" for source, reference in pairs))


def score(hypotheses: Lines, references: Lines, bootstrap: int, target: str = "") -> list[Score]:
    """Compute BLEU and chrF of detokenised, cased text, with bootstrap intervals of `bootstrap` resamples.

    target: language code; it chooses sacreBLEU's tokeniser if the language needs its own (zh, ja, ko).
    Raises InputError if the line counts differ.
    """
    check_lines(hypotheses, references, "scoring")
    return [score_by(one, hypotheses, references, bootstrap) for one in (bleu(target), CHRF())]


def score_by(metric: Metric, hypotheses: Lines, references: Lines, bootstrap: int) -> Score:
    """Compute the score by one of sacreBLEU's metrics, with an interval of `bootstrap` resamples."""
    with environment(SEED):
        found = metric.corpus_score(hypotheses, [references], n_bootstrap=bootstrap)
    bounds = float(found._mean - found._ci), float(found._mean + found._ci)
    name = "BLEU" if isinstance(metric, BLEU) else "chrF"
    return Score(name, found.score, *bounds, metric.get_signature().format())


def resampled(metric: Metric, hypotheses: Lines, references: Lines, bootstrap: int) -> list[float]:
    """Return the score of each resample; resamples consist of the same sentences for every system."""
    statistics = metric._extract_corpus_statistics(hypotheses, [references])
    with environment(SEED):
        _, scores = _bootstrap_resample(statistics, metric, bootstrap)
    return [one.score for one in scores]


def score_both(
    metric: Metric, hypotheses: Lines, baseline: Lines, references: Lines, bootstrap: int
) -> tuple[Score, Score, Difference]:
    """Compute the scores of two systems, and test their difference by paired bootstrap resampling."""
    texts = hypotheses, baseline
    found, other = (score_by(metric, lines, references, bootstrap) for lines in texts)
    samples = (resampled(metric, lines, references, bootstrap) for lines in texts)
    return found, other, paired_difference(*samples, found.score - other.score)


def measure(
    variant: Variant,
    test_set: TestSet,
    hypotheses: Lines,
    baseline: Lines | None,
    *,
    bootstrap: int,
    target: str,
    model_sha256: str,
    seed: int,
) -> list[Measurement]:
    """Measure one variant on one test set; return one row per metric.

    baseline: translations of the student's unpruned float32 model; None if there is nothing to compare with.
    Raises InputError if line counts differ.
    """
    references = test_set.references
    check_lines(hypotheses, references, f"{variant} on '{test_set.name}'")
    check_lines(references if baseline is None else baseline, references, "significance, baseline")
    rows = []
    for metric in (bleu(target), CHRF()):
        if baseline is None:
            found, p_value = score_by(metric, hypotheses, references, bootstrap), None
        else:
            found, _, paired = score_both(metric, hypotheses, baseline, references, bootstrap)
            p_value = paired.p_value
        rows.append(measurement(variant, test_set, found, p_value, model_sha256, seed))
    return rows


def measurement(
    variant: Variant, test_set: TestSet, found: Score, p_value: float | None, digest: str, seed: int
) -> Measurement:
    """Make the row of a score.  p_value: of the difference to the baseline, if any.  digest: the model's."""
    return Measurement(
        variant=str(variant),
        test_set=test_set.name,
        sentences=len(test_set.references),
        compared_with=None if p_value is None else str(variant.baseline),
        p_value=p_value,
        test_set_sha256=test_set.sha256,
        model_sha256=digest,
        seed=seed,
        versions=software_versions(),
        **asdict(variant),
        **asdict(found),  # metric, score, low, high, signature
    )
