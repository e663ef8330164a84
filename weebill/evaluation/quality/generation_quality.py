"""Quality of generated text: ROUGE of summaries, or perplexity of running text, each with its signature."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weebill.evaluation.measurement import model_sha256, software_versions
from weebill.evaluation.quality.rouge import METRICS, rouge_intervals, rouge_scores, rouge_signature
from weebill.evaluation.quality.significance import BOOTSTRAP_SEED, interval, resampled_means
from weebill.files import sha256_file
from weebill.generation.data import read_part
from weebill.generation.settings import SearchSettings

if TYPE_CHECKING:  # tables read qualities without PyTorch
    from transformers import PreTrainedTokenizerBase

    from weebill.generation.perplexity import Surprise


@dataclass(frozen=True)
class GenerationQuality:
    """Score of a model on a test part; it holds no time and no hardware."""

    variant: str  # MODEL/STEP/STEP…
    data: str
    metric: str  # "ROUGE-1" … "ROUGE-Lsum" (0 to 1), "perplexity" or "bits per byte"
    score: float
    low: float  # bounds of the 95 % bootstrap interval, over summaries or windows
    high: float
    examples: int  # summaries or windows
    tokens: int | None  # scored tokens of running text; None for summaries
    signature: str
    test_set_sha256: str
    model_sha256: str
    seed: int
    versions: dict[str, str]


@dataclass(frozen=True)
class Measured:
    """Fields of a row besides its score, or their sources."""

    variant: str
    data: str
    folder: Path  # of imported data
    model: Path
    seed: int

    def rows(
        self, scores: dict[str, Sequence[float]], examples: int, tokens: int | None, signature: str
    ) -> list[GenerationQuality]:
        """Return a row for each metric's score and its interval's bounds."""
        made_of = (
            signature,
            sha256_file(self.folder / "test.jsonl"),
            model_sha256([self.model]),
            self.seed,
            software_versions(["transformers", "rouge-score"]),
        )
        return [
            GenerationQuality(self.variant, self.data, metric, *score, examples, tokens, *made_of)
            for metric, score in scores.items()
        ]


def summary_quality(
    measured: Measured,
    summaries: Sequence[str],
    search: SearchSettings,
    max_source: int,
    resamples: int,
    prefix: str = "",
    numbers: str = "",
) -> list[GenerationQuality]:
    """Return ROUGE of the summaries of the data's test part.

    prefix: the text before each article.  numbers: device and precision of the model, if not a CPU in float32.
    """
    how = "|".join(f"{name}:{value}" for name, value in asdict(search).items())
    how = f"prefix:{prefix}|{how}" if prefix else how
    how = f"{how}|{numbers}" if numbers else how
    return _rouge_rows(measured, summaries, f"source:{max_source}|{how}", resamples)


def lead_quality(
    measured: Measured, tokenizer: "PreTrainedTokenizerBase", tokens: int, resamples: int
) -> list[GenerationQuality]:
    """Return ROUGE of the first `tokens` of each test article, a baseline that a model should exceed."""

    def lead(article: str) -> str:
        def count(end: int) -> int:
            return len(tokenizer(article[:end], add_special_tokens=False, verbose=False).input_ids)

        return article[: bisect_right(range(1, len(article) + 1), tokens, key=count)]

    leads = [lead(row["article"]) for row in read_part(measured.folder, "test")]
    return _rouge_rows(measured, leads, f"lead:{tokens}", resamples)


def _rouge_rows(
    measured: Measured, summaries: Sequence[str], how: str, resamples: int
) -> list[GenerationQuality]:
    references = [row["summary"] for row in read_part(measured.folder, "test")]
    found = rouge_intervals(rouge_scores(summaries, references), resamples)
    scores = dict(zip(METRICS, found, strict=True))
    signature = rouge_signature(how, resamples, [*summaries, *references])
    return measured.rows(scores, len(references), None, signature)


def text_quality(
    measured: Measured, found: "Surprise", window: int, stride: int, resamples: int
) -> list[GenerationQuality]:
    """Return perplexity and bits per byte of the data's test part."""
    counts = np.stack([found.totals, found.tokens], 1)  # (windows, 2)
    means = resampled_means(counts, resamples)
    entropies = means[:, 0] / means[:, 1]  # (resamples,), of a token
    bits = found.tokens.sum() / found.size / math.log(2)  # per byte, for one nat per token
    signature = (
        f"strided|window:{window}|stride:{stride}|resamples:{resamples}|seed:{BOOTSTRAP_SEED}"
    )
    scores = {
        "perplexity": (found.perplexity, *interval(np.exp(entropies))),
        "bits per byte": (found.bits_per_byte, *interval(entropies * bits)),
    }
    return measured.rows(scores, len(found.totals), int(found.tokens.sum()), signature)
