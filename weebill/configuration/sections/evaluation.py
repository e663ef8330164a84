"""Settings of measurements and of the report."""

from dataclasses import field
from typing import Annotated, Any, Literal

from weebill.report.papers import STUDENT_PAPERS
from weebill.settings import (
    Amount,
    Count,
    Distinct,
    Ge,
    Le,
    MinLen,
    Names,
    PartialShare,
    Pattern,
    Place,
    Several,
    Weight,
    made_section,
    section,
)

Variants = Several[
    Annotated[str, Pattern("^[^/]+/[^/]+/[^/]+$", "a pattern STUDENT/RECIPE/PRECISION")]
]


@section
class GpuText:
    """Text that is timed on a GPU after the test sets."""

    corpus: str
    """Corpus whose source side, after cleaning and selection, follows the test sets."""
    sentences: Count = 1_000_000
    """Sentences of the test sets and the corpus together, by default as many as in the papers. A smaller corpus is
    used whole."""


@section
class Speed:
    """Settings of the speed measurement."""

    sentences: Count = 1000
    """Sentences translated in a round."""
    teacher_sentences: Amount = 100
    """Sentences that the teacher translates in a round, at most `sentences`. An ensemble of large models takes hours
    for thousands of sentences. With 0, no teacher is timed."""
    rounds: Count = 3
    """Number of rounds; each round measures every variant once, and the median counts."""
    least_seconds: Weight = 1.0
    """Shortest time of a variant in a round, in seconds. A faster variant translates several times, and the mean
    counts."""
    latency_sentences: Count = 200
    """Sentences translated one by one to measure the latency."""
    batch_size: Count = 32
    """Sentences in a batch."""
    gpu_batch_sizes: Distinct[Count] = (1, 32, 64, 128, 256, 512, 768, 1024, 1132, 2048)
    """Batch sizes, in sentences, for timing students on a GPU, if `hardware.accelerator` is `gpu`. WMT21's table 4
    has 32 to 1132. `1` measures the latency: `latency_sentences` are translated one by one."""
    gpu_numbers: Distinct[Literal["float32", "float16", "bfloat16"]] = (
        "float32",
        "float16",
        "bfloat16",
    )
    """Types of numbers in which a GPU computes. Students on 8-bit grids always multiply integers."""
    gpu_variants: Variants = ("*/*/*",)
    """Patterns `STUDENT/RECIPE/PRECISION` of the measured variants that are timed on a GPU."""
    gpu_text: GpuText | None = None
    """Text that is timed on a GPU: all test sets, then lines of a corpus; BLEU of the test sets is computed from the
    timed translations. Without this key, only the test sets are timed."""


@section
class CleaningWorth:
    """Settings of the measurement of the effect of cleaning."""

    student: str
    """Entry of `models.yaml` that is trained."""


@section
class LabelledColumns:
    """Columns of the labelled table, counted from 0."""

    source: Amount
    """Column of the source side."""
    target: Amount
    """Column of the target side."""
    label: Amount
    """Column of the label, 1 (good) or 0 (bad)."""


@section
class Labelled:
    """Pairs that people labelled good or bad."""

    table: Place
    """Tab-separated values with a header, plain, `.gz`, `.xz` or `.zst`."""
    columns: LabelledColumns
    """Columns of the table, `{source: 0, target: 1, label: 2}`, counted from 0."""


@section
class Comet:
    """COMET regression model that scores every variant."""

    model: Place
    """Metric folder, checkpoint of unbabel-comet (folder or .ckpt), or name of a checkpoint on the hub."""
    encoder: Place | None = None
    """Folder with the encoder's configuration and tokenizer, if the encoder is not found by its name."""
    precision: Literal["auto", "float32", "bfloat16", "int8"] = "auto"
    """Type of the products: `float32`, or the faster `bfloat16` and, on processors only, `int8`, whose scores differ
    by a few thousandths; `auto` is `bfloat16` on GPUs that have it, else `float32`."""


@section
class MinimumBayesRisk:
    """Translations of the teacher, chosen among candidates by minimum Bayes risk."""

    candidates: Annotated[int, Ge(2), Le(4096)] = 100
    """Candidates for each sentence."""
    by: Literal["sampling", "beam"] = "sampling"
    """Origin of the candidates: samples, or with `beam` the hypotheses of a beam with `candidates` hypotheses."""
    utility: Literal["comet", "chrf", "bleu"] = "comet"
    """Utility of a candidate: the model of `evaluation.comet`, or sacreBLEU's sentence score `chrf` or `bleu`."""
    temperature: Annotated[float, Ge(0.000001), Le(1000000)] = 1.0
    """Temperature of sampling: values below 1 prefer probable pieces."""
    epsilon: PartialShare = 0.02
    """Smallest probability of a sampled piece; pieces with less are never drawn."""
    beside_itself: bool = True
    """Use a candidate as its own reference too."""
    kept: Count | None = None
    """Number of scored candidates, the best by chrF; all candidates serve as references."""


@section
class Engines:
    """Comparison of the runtime with CTranslate2."""

    architectures: Names
    """Students of `models.yaml` whose shapes are measured."""
    sentences: Count = 3000
    """Sentences translated in a round."""
    rounds: Count = 3
    """Number of rounds; each round measures every engine once."""
    memory_sentences: Count | None = None
    """Number of lines for an extra measurement of the runtime's memory growth. A million lines take an hour for each
    shape."""


@section
class Evaluation:
    """Settings of the measurement of models."""

    bootstrap: Annotated[int, Ge(2)] = 1000
    """Bootstrap samples for intervals and significance."""
    original_languages: Names | None = None
    """Test sets whose BLEU is also measured separately by the language in which sentences were first written (WNGT20
    §3), on the same translations. Their importer is `sacrebleu`, or `files` with `origlang`."""
    student_beam: Annotated[int, Ge(2), Le(4096)] | None = None
    """Beam of an extra search with the unpruned float32 students, `STUDENT/beam-N/float32`; otherwise students
    translate greedily."""
    speed: Speed = Speed()
    cleaning: CleaningWorth | None = None
    """Measurement of the effect of cleaning. Students are trained without a teacher, with the settings of `training`,
    on the parallel corpora: uncleaned, after the rules, after the scores, and with the scores' weights. Without this
    key it is not measured."""
    labelled: Labelled | None = None
    """Pairs that people labelled good or bad. Every filter, and every score for which `scoring` has a model, is
    measured on them. The language models should be estimated on other text."""
    comet: Comet | None = None
    """COMET regression model that also scores every variant, for the papers' COMET columns."""
    mbr: MinimumBayesRisk | None = None
    """Translations of the teacher, chosen among candidates by minimum Bayes risk, in addition to those of its
    searches."""
    engines: Engines | None = None
    """Comparison of the runtime with CTranslate2 (`weebill benchmark runtime`), shown in the report; without this key
    there is none."""


def _columns(name: str) -> tuple[str, type, Any, str]:
    columns, doc = STUDENT_PAPERS[name].columns, f"Columns of {name.upper()}."
    keys = [(key, Names | None, None, sentence) for key, sentence in columns.items()]
    made = made_section(f"{name.capitalize()}Columns", doc, keys)
    return name, made, made(), doc


ReportColumns = made_section(
    "ReportColumns",
    "Columns of the papers, each compared with the mean over some of our test sets.",
    map(_columns, STUDENT_PAPERS),
)
ReportRows = made_section(
    "ReportRows",
    "Rows of the papers.",
    [(name, str | None, None, f"Row of {name.upper()}'s table 1.") for name in STUDENT_PAPERS],
)


@section
class Report:
    """Our rows and columns to compare with the papers'."""

    columns: ReportColumns = ReportColumns()
    """Our test sets whose mean is compared with a paper's column."""
    rows: dict[str, Annotated[ReportRows, MinLen(1)]] = field(default_factory=dict)
    """For each of our students (or `teacher`), the row of each paper's table 1 to compare with; by default the row
    with the same name."""
