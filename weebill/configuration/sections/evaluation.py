"""Settings of measurement and report."""

from dataclasses import field
from typing import Annotated, Literal

from weebill.settings import (
    Amount,
    Count,
    Ge,
    Le,
    MinLen,
    PartialShare,
    Place,
    Unique,
    Weight,
    section,
)

Names = Annotated[tuple[str, ...], MinLen(1), Unique()]


@section
class Speed:
    """How speed is measured."""

    sentences: Count = 1000
    """Sentences translated in a round."""
    rounds: Count = 3
    """Rounds, in each of which every variant has its turn; the median counts."""
    least_seconds: Weight = 1.0
    """A variant that takes less time, in seconds, translates several times in its turn, and the mean counts."""
    latency_sentences: Count = 200
    """Sentences translated one by one, for the latency."""
    batch_size: Count = 32
    """Sentences of a batch."""
    gpu_batch_sizes: Annotated[tuple[Count, ...], MinLen(1), Unique()] = (
        32,
        64,
        128,
        256,
        512,
        768,
        1024,
    )
    """Sentences of a batch where `hardware.accelerator` is `gpu` and students are timed there too."""


@section
class CleaningWorth:
    """The worth of cleaning."""

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
    """Pairs that people have labelled good or bad."""

    table: Place
    """Tab-separated values with a line of headings, plain, `.gz` or `.zst`."""
    columns: LabelledColumns
    """Columns of the table, `{source: 0, target: 1, label: 2}`, counted from 0."""


@section
class Comet:
    """A COMET regression model that scores every variant."""

    model: Place
    """Metric folder, a checkpoint of unbabel-comet (folder or .ckpt), or its name on the hub."""
    encoder: Place | None = None
    """Folder of its encoder's configuration and tokenizer, where it is not found by its name."""
    precision: Literal["float32", "bfloat16", "int8"] = "float32"
    """Type of the products; the others are faster and equal to some thousandths: `bfloat16`, and `int8` on
    processors."""


@section
class MinimumBayesRisk:
    """Translations of the teacher, chosen among many by minimum Bayes risk."""

    candidates: Annotated[int, Ge(2)] = 100
    """Candidates of each sentence."""
    by: Literal["sampling", "beam"] = "sampling"
    """Candidates are samples, or with `beam` the best of a beam of that size."""
    utility: Literal["comet", "chrf", "bleu"] = "comet"
    """Utility of a candidate: the model of `evaluation.comet`, or sacreBLEU's sentence score `chrf` or `bleu`."""
    temperature: Annotated[float, Ge(0.000001), Le(1000000)] = 1.0
    """Temperature of sampling: below 1 it prefers the probable."""
    epsilon: PartialShare = 0.02
    """Probability below which a piece is never drawn in sampling."""
    beside_itself: bool = True
    """Use a candidate as its own reference too."""
    kept: Count | None = None
    """Candidates that are looked at, the best by chrF; as references all are used."""


@section
class Engines:
    """Comparison of the runtime with CTranslate2."""

    architectures: Names
    """Students of `models.yaml` whose shapes are taken."""
    sentences: Count = 3000
    """Sentences translated in a round."""
    rounds: Count = 3
    """Rounds, in each of which every engine has its turn."""
    memory_sentences: Count | None = None
    """Lines over which the growth of the runtime's memory is measured too; a million take an hour for each shape."""


@section
class Evaluation:
    """How models are measured."""

    bootstrap: Annotated[int, Ge(2)] = 1000
    """Resamplings for intervals and significance."""
    student_beam: Annotated[int, Ge(2)] | None = None
    """Beam by which the unpruned float32 students are searched too, as `STUDENT/beam-N/float32`; students are
    searched greedily otherwise."""
    speed: Speed = Speed()
    """How speed is measured."""
    cleaning: CleaningWorth | None = None
    """Measures the worth of cleaning by students trained on the parallel corpora themselves, without a teacher, with
    the settings of `training`: uncleaned, after the rules, after the scores, and with the scores' weights; without
    this key it is not measured."""
    labelled: Labelled | None = None
    """Pairs that people have labelled good or bad: every filter, and the scores that `scoring` has models for, are
    measured on them; without this key they are not. The language models should be of other text."""
    comet: Comet | None = None
    """COMET regression model that scores every variant too: the papers' COMET columns."""
    mbr: MinimumBayesRisk | None = None
    """Translations of the teacher chosen among many by minimum Bayes risk, beside those of its searches."""
    engines: Engines | None = None
    """Measures the runtime against CTranslate2 (`weebill benchmark runtime`) and reports it; without this key it is
    not done."""


@section
class Wngt20Columns:
    """Columns of WNGT20."""

    bleu_wmt16: Names | None = None
    """Names in `test_sets`, as in all of these columns."""
    bleu_wmt19: Names | None = None
    """Test sets of the paper's WMT19."""
    bleu_wmt1x: Names | None = None
    """Test sets of the paper's WMT1\\*, the mean over 2010 to 2019."""


@section
class Wmt21Columns:
    """Columns of WMT21."""

    bleu_wmt20: Names | None = None
    """Test sets of the paper's WMT20."""
    bleu_wmt21: Names | None = None
    """Test sets of the paper's WMT21."""


@section
class ReportColumns:
    """Columns of the papers, each the mean over test sets of ours."""

    wngt20: Wngt20Columns = Wngt20Columns()
    """Columns of WNGT20."""
    wmt21: Wmt21Columns = Wmt21Columns()
    """Columns of WMT21."""


@section
class ReportRows:
    """Rows of the papers."""

    wngt20: str | None = None
    """Row of WNGT20's table 1."""
    wmt21: str | None = None
    """Row of WMT21's table 1."""


@section
class Report:
    """How our rows and columns are compared with the papers'."""

    columns: ReportColumns = ReportColumns()
    """Test sets of ours whose mean is compared with a paper's column."""
    rows: dict[str, Annotated[ReportRows, MinLen(1)]] = field(default_factory=dict)
    """Row of each paper's table 1 that a student of ours (or `teacher`) is compared with, by the student's name; by
    default the row of its own name."""
