"""Settings of a whole `metric` experiment."""

from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

from weebill.configuration.sections.metric_distillation import MetricDistillation
from weebill.configuration.sections.origins import Fetched
from weebill.configuration.sections.rehearsed import OwnArchitectures, Rehearsed
from weebill.configuration.sections.translation import ExperimentSeed
from weebill.metric.settings import (
    AttentionDistillationSettings,
    PretrainingSettings,
    RegressionSettings,
)
from weebill.pruning.method import AtOnce
from weebill.pruning.methods import METHODS
from weebill.settings import (
    Accelerator,
    Chosen,
    Commit,
    Count,
    Distinct,
    Expected,
    Few,
    FolderName,
    Ge,
    Le,
    Members,
    Name,
    Named,
    Pattern,
    Place,
    Places,
    ProperShare,
    Several,
    Text,
    Unique,
    section,
)

PaperColumn = Annotated[
    str,
    Pattern(
        "^[a-z]{2}-[a-z]{2}(_(news|ted))?$",
        "a column of COMETINHO's tables 1 and 2, such as en-de_news or hi-bn",
    ),
]


@section
class HuggingFaceEncoder:
    """Existing encoder, local or on the hub: XLM-R, MiniLM (BERT with the pieces of XLM-R), BERT or RemBERT."""

    hugging_face: Place
    """Folder with config.json, model.safetensors and a tokenizer, or name on the hub if there is a `revision`."""
    revision: Commit | None = None
    """Commit of 40 hexadecimal digits."""


WAYS = {
    "pretraining": PretrainingSettings,
    "attention-distillation": AttentionDistillationSettings,
    "hugging_face": HuggingFaceEncoder,
}
Encoder = Annotated[Any, Chosen("by", WAYS)]


@section
class Judgements:
    """Table of judgements."""

    table: Place
    """File of the table."""
    score: Text
    """Column of scores; higher is better."""


@section
class JudgedSet(Judgements):
    """Set of translations that people judged."""

    statistic: Literal["mqm", "darr"]
    """Agreement with people: `mqm` is Kendall's τ-b over all segments of all systems; `darr` is the τ-like statistic
    over pairs whose judgements differ by at least 25 points. The mean of several judgements of a translation
    counts."""
    humans: bool = False
    """Count translations by people, and systems made to mislead metrics, as systems. Translations by people are named
    `ref` or `human` with a letter, in any case, such as `ref-A`, `refA`, `Human-B.0` (but not `Refinement-NMT`);
    misleading systems are named `metricsystem…`."""
    references: bool = True
    """`false` if the table has no references. Then only `scores` and metrics without references are measured."""
    held_out: ProperShare | None = None
    """Share of the sources that is used: only sources that a `reference.validation_share` of this size holds out of
    the training. It is for judgements that reference models learn from."""
    paper: PaperColumn | None = None
    """Column of COMETINHO's table 1 or 2 to compare with, such as `en-de_news` or `hi-bn`. Each column has only one
    test set."""
    scores: dict[Name, Place] = field(default_factory=dict)
    """Further metrics: a name, such as BLEURT or PRISM, and a file with one score for each row of the table."""


@section
class Reference:
    """Reference models: an ensemble trained here, or a checkpoint."""

    checkpoint: Place | None = None
    """Metric folder, an official checkpoint (folder or .ckpt), or its name on the hub (`NAME@COMMIT` for a certain
    commit). It replaces the training."""
    encoder: str | None = None
    """Initial encoder of the models. For a checkpoint it is an encoder `by: hugging_face`, which provides
    configuration and tokenizer if the checkpoint's own encoder is not found by its name."""
    members: Members = 5
    """Members of the ensemble; the first is the `reference` of the tables."""
    judgements: Several[Judgements] | None = None
    """Tables for training the models."""
    normalise: Literal["language-pair", "table", "none"] = "language-pair"
    """Groups whose scores are normalised to mean 0 and deviation 1: each `language-pair` of a table, the whole
    `table`, or `none`."""
    validation_share: ProperShare = 0.1
    """Share of the sources that is used to choose the best epoch; no model is trained on them."""
    training: RegressionSettings = RegressionSettings()
    """Settings of the members' training."""


# Metrics are already trained, so `reset_to` has no meaning for them.
MetricMethod = Annotated[
    Any,
    Chosen(
        "method",
        {name: method for name, method in METHODS.items() if issubclass(method, AtOnce)},
        without=("reset_to",),
        defaults={"ranking": "layer", "blocks": "*"},
    ),
]
MetricRecipe = Annotated[
    Several[MetricMethod], Expected("a list of methods such as {method: depth, layers: 1}")
]


@section
class Pruning:
    """Settings of the pruning of metrics."""

    FORMER: ClassVar = {
        "top_layers": "layers",
        "feed_forward": "neurons, the share of each layer's that is removed (0.25 for 0.75)",
    }
    judgements: Several[Judgements]
    """Tables for computing the loss and its gradient for each head and neuron. Heads and neurons with the smallest
    gradient are removed (COMETINHO §4.2)."""
    segments: Count = 1000
    """Segments of the tables, drawn at random."""
    development: JudgedSet
    """Judged set for figures 5 and 6, with the keys of a test set."""
    layers: Annotated[tuple[Count, ...], Unique()] = ()
    """Numbers of removed top layers, one metric for each number (figure 5)."""
    neurons: Annotated[tuple[ProperShare, ...], Unique()] = ()
    """Shares of each layer's neurons that are removed, rounded down, one metric for each share (figure 6a)."""
    heads: Annotated[tuple[ProperShare, ...], Unique()] = ()
    """Shares of each layer's heads that are removed, rounded down, after the neurons of `recipe` (figure 6b)."""
    recipe: MetricRecipe | None = None
    """Methods that make the metric `pruned`, applied one after another."""
    recipes: Named[MetricRecipe] | None = None
    """Further pruned metrics of the tables: a name for each, and its methods, as in `recipe`."""


@section
class BertScore:
    """F1 of matched states, without idf and rescaling."""

    encoder: str
    """One of `encoders`."""
    layer: Count
    """Layer whose states are compared, counted from 1."""


@section
class Bleurt:
    """Score of a BLEURT model."""

    encoder: str
    """One of `encoders`: a BLEURT model in transformers' format."""


OtherMetric = Annotated[Any, Chosen("by", {"bert-score": BertScore, "bleurt": Bleurt})]


@section
class MetricSpeed:
    """Texts for the timing of metrics."""

    sources: Place
    """File with one segment per line."""
    references: Place | None = None
    """File of the references, for metrics that compare with them."""
    systems: Places
    """List of files, one with each system's translations."""
    segments: Count | None = None
    """Number of segments, evenly spaced; by default all."""
    candidates: Distinct[Annotated[int, Ge(2)]] = (25, 50, 100, 200)
    """Numbers of candidate translations for minimum Bayes risk (figure 7)."""
    candidate_sources: Count = 2
    """Number of sources for that choice."""
    rounds: Count = 3
    """Number of rounds; each round measures every metric once."""


@section
class MetricRobustness:
    """Damage to translations with references that metrics should notice."""

    segments: Count = 500
    """Most translations of a test set for each kind of damage: a changed number or name, if source and reference also
    have it, or an omitted word."""


@section
class MetricEvaluation:
    """Settings of the measurement of metrics."""

    precision: Literal["auto", "float32", "bfloat16", "int8"] = "auto"
    """Type of our scorer's products: `float32`, or the faster `bfloat16` and, on processors only, `int8`, whose
    scores differ by a few thousandths; `auto` is `bfloat16` on GPUs that have it, else `float32`."""
    resamples: Annotated[int, Ge(40)] = 1000
    """Bootstrap samples for intervals."""
    permutations: Annotated[int, Ge(20)] = 1000
    """Permutations of the test against the reference."""
    speed: MetricSpeed | None = None
    """Texts for the timing of metrics; without this key nothing is timed."""
    robustness: MetricRobustness | None = None
    """Scores of translations with changed numbers and names (COMETINHO §8 leaves this open). `{}` means all defaults;
    without this key, robustness is not measured."""


@section
class MetricHardware:
    """Devices of a metric experiment."""

    accelerator: Accelerator = "cpu"
    """Device that trains and scores. `rehearsal` runs a GPU's code and kinds of numbers on the processor;
    `weebill rehearse` sets it instead of `gpu`."""
    devices: Few = 1
    """Number of devices of a translator's training."""
    threads: Few = 1
    """CPU threads of one process."""


@section
class Metric(Fetched, OwnArchitectures, Rehearsed):
    """Experiment of the kind `metric`."""

    kind: Literal["metric"]
    """Kind of experiment."""
    experiment: FolderName
    """Name of the experiment; results go to `results/NAME`."""
    seed: ExperimentSeed = 1
    """Seed of all randomness; member N of the ensemble has this seed plus N."""
    texts: Places | None = None
    """Text files, one sentence per line, for training encoders and their tokenizer."""
    sentences: Count = 10_000_000
    """Largest number of sentences from the texts, drawn at random (2,000,000 for the tokenizer). A million takes
    about 300 MB of memory."""
    vocabulary: Annotated[int, Ge(100), Le(250000)] = 8000
    """Pieces of the encoders' tokenizer, with special ones."""
    encoders: dict[Name, Encoder] = field(default_factory=dict)
    """A name for each encoder, and how it is made or where it comes from."""
    reference: Reference
    pruning: Pruning | None = None
    """Settings of the pruning of metrics; without this key none is pruned."""
    distillation: MetricDistillation | None = None
    """Settings of the distillation of metrics; without this key none is distilled."""
    test_sets: Named[JudgedSet]
    """A name for each judged set."""
    metrics: dict[Name, OtherMetric] = field(default_factory=dict)
    """A name for each further metric, such as BERTScore, and its method: `by: bert-score` or `by: bleurt`."""
    evaluation: MetricEvaluation = MetricEvaluation()
    hardware: MetricHardware = MetricHardware()
    """Devices of the experiment."""
