"""Translation quality: BLEU and chrF with intervals and significance, all of them sacreBLEU's own."""

from collections.abc import Mapping
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


def resampled(
    metric: Metric, hypotheses: Lines, references: Lines, bootstrap: int
) -> tuple[Score, list[float]]:
    """Compute the score by one of sacreBLEU's metrics, with an interval, and the score of each of its resamples.

    Resamples consist of the same sentences for every system.  The steps are those of sacreBLEU's `corpus_score`,
    which does not return the resamples.
    """
    metric._check_corpus_score_args(hypotheses, [references])
    statistics = metric._extract_corpus_statistics(hypotheses, [references])
    found = metric._aggregate_and_compute(statistics)
    metric.n_bootstrap = bootstrap  # the signature names it, and the seed
    with environment(SEED):
        metric.seed, samples = _bootstrap_resample(statistics, metric, bootstrap)
    if len({type(one.score) for one in samples}) > 1:  # a 0 without a match has another type
        for one in samples:
            one.score = float(one.score)
    found.estimate_ci(samples)
    bounds = float(found._mean - found._ci), float(found._mean + found._ci)
    name = "BLEU" if isinstance(metric, BLEU) else "chrF"
    made = Score(name, found.score, *bounds, metric.get_signature().format())
    return made, [one.score for one in samples]


def score_both(
    metric: Metric, hypotheses: Lines, baseline: Lines, references: Lines, bootstrap: int
) -> tuple[Score, Score, Difference]:
    """Compute the scores of two systems, and test their difference by paired bootstrap resampling."""
    found, ours = resampled(metric, hypotheses, references, bootstrap)
    other, theirs = resampled(metric, baseline, references, bootstrap)
    return found, other, paired_difference(ours, theirs, found.score - other.score)


def measure(
    variants: Mapping[Variant, Lines],
    test_set: TestSet,
    digests: Mapping[str, str],
    *,
    bootstrap: int,
    target: str,
    seed: int,
) -> list[Measurement]:
    """Measure variants of one student on a test set; return one row per metric of each variant.

    variants: their translations; each variant is compared with the student's unpruned float32 model, if that is among
    them.  digests: SHA-256 of each variant's model by the variant's name.  Raises InputError if line counts differ.
    """
    references = test_set.references
    for variant, lines in variants.items():
        check_lines(lines, references, f"{variant} on '{test_set.name}'")
    rows = {variant: [] for variant in variants}
    for metric in (bleu(target), CHRF()):
        found = {
            v: resampled(metric, lines, references, bootstrap) for v, lines in variants.items()
        }
        for variant, (score, samples) in found.items():
            p_value = None
            if variant != variant.baseline and variant.baseline in found:
                other, theirs = found[variant.baseline]
                difference = score.score - other.score
                p_value = paired_difference(samples, theirs, difference).p_value
            digest = digests[str(variant)]
            rows[variant].append(measurement(variant, test_set, score, p_value, digest, seed))
    return [row for of_one in rows.values() for row in of_one]


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
