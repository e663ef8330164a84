"""Settings of a whole experiment of the kind `metric`."""

from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

from weebill.configuration.sections.metric_distillation import MetricDistillation
from weebill.configuration.sections.pruning import MetricMethod
from weebill.configuration.sections.translation import ExperimentSeed
from weebill.metric.settings import PretrainingSettings, RegressionSettings
from weebill.settings import (
    Chosen,
    Commit,
    Count,
    Expected,
    FolderName,
    Ge,
    Le,
    MinLen,
    Name,
    Pattern,
    Place,
    Places,
    ProperShare,
    Text,
    Unique,
    section,
)

ScorerPrecision = Literal["float32", "bfloat16", "int8"]


@section
class HuggingFaceEncoder:
    """An encoder that is there, or is fetched."""

    hugging_face: Text
    """Folder with config.json, model.safetensors and a tokenizer; or with `revision` a name on the hub."""
    revision: Commit | None = None
    """Commit of 40 hexadecimal digits."""


Encoder = Annotated[
    Any, Chosen("by", {"pretraining": PretrainingSettings, "hugging_face": HuggingFaceEncoder})
]


@section
class Judgements:
    """A table of judgements."""

    table: Place
    """File of the table."""
    score: Text
    """Column of scores; higher is better."""


@section
class JudgedSet(Judgements):
    """A judged set."""

    statistic: Literal["mqm", "darr"]
    """Agreement with people: `mqm` is Kendall's τ-b over all segments of all systems; `darr` is the τ-like statistic
    over pairs that people tell apart by 25 points. The mean of several judgements of a translation counts."""
    humans: bool = False
    """Count translations by people, and systems made to mislead metrics, as systems: those called `ref` or `human`
    and a letter, in any case, such as `ref-A`, `refA`, `Human-B.0` (`Refinement-NMT` is none), and
    `metricsystem…`."""
    references: bool = True
    """`false` if the table has no references; then only metrics of models that read none count, and `scores`."""
    held_out: ProperShare | None = None
    """Use only the sources that a `reference.validation_share` of this size keeps from training: for judgements that
    references learn from."""
    paper: (
        Annotated[
            str,
            Pattern(
                "^[a-z]{2}-[a-z]{2}(_(news|ted))?$",
                "a column of COMETINHO's tables 1 and 2, such as en-de_news or hi-bn",
            ),
        ]
        | None
    ) = None
    """Column of COMETINHO's table 1 or 2 that the set is compared with, such as `en-de_news` or `hi-bn`; one test set
    for each column."""
    scores: dict[Name, Place] = field(default_factory=dict)
    """Further metrics: a name, such as BLEURT or PRISM, and a file with one score for each row of the table."""


@section
class Reference:
    """The reference models: an ensemble trained here, or a checkpoint."""

    checkpoint: Place | None = None
    """Metric folder, an official checkpoint (folder or .ckpt), or its name on the hub, `NAME@COMMIT` for one commit;
    it replaces the training."""
    encoder: str | None = None
    """Encoder that the models begin with. A checkpoint names its own, `by: hugging_face`, whose configuration and
    tokenizer are read where it is not found by its name."""
    members: Count = 5
    """Members of the ensemble; the first is the `reference` of the tables."""
    judgements: Annotated[tuple[Judgements, ...], MinLen(1)] | None = None
    """Tables to learn from."""
    normalise: Literal["language-pair", "table", "none"] = "language-pair"
    """Bring scores to mean 0 and deviation 1 over each `language-pair` of a table, over the `table`, or `none`."""
    validation_share: ProperShare = 0.1
    """Share of the sources by which the best epoch is chosen; they are never trained on."""
    training: RegressionSettings = RegressionSettings()
    """How to train the members."""


@section
class Pruning:
    """How metrics are pruned."""

    FORMER: ClassVar = {
        "top_layers": "layers",
        "feed_forward": "neurons, the share of each layer's that is removed (0.25 for 0.75)",
    }
    judgements: Annotated[tuple[Judgements, ...], MinLen(1)]
    """Tables whose loss tells which heads and neurons matter: those of the smallest gradient are removed (COMETINHO
    §4.2)."""
    segments: Count = 1000
    """Segments of the tables, drawn at random."""
    development: JudgedSet
    """Judged set of figures 5 and 6, with the keys of a test set."""
    layers: Annotated[tuple[Count, ...], Unique()] = ()
    """Numbers of top layers that are removed, a metric for each (figure 5)."""
    neurons: Annotated[tuple[ProperShare, ...], Unique()] = ()
    """Shares of each layer's neurons that are removed, rounded down, a metric for each (figure 6a)."""
    heads: Annotated[tuple[ProperShare, ...], Unique()] = ()
    """Shares of each layer's heads that are removed, rounded down, after the neurons of `recipe` (figure 6b)."""
    recipe: (
        Annotated[
            tuple[MetricMethod, ...],
            MinLen(1),
            Expected("a list of methods such as {method: depth, layers: 1}"),
        ]
        | None
    ) = None
    """Methods that make the metric `pruned`, applied in turn."""


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
    """Texts by which metrics are timed."""

    sources: Place
    """File of one segment a line."""
    references: Place | None = None
    """File of the references, for metrics that compare with them."""
    systems: Places
    """A file for each system's translations."""
    segments: Count | None = None
    """Segments that are taken, evenly chosen; without it all."""
    candidates: Annotated[tuple[Annotated[int, Ge(2)], ...], MinLen(1), Unique()] = (
        25,
        50,
        100,
        200,
    )
    """Numbers of translations from which one is chosen by Bayes risk (figure 7)."""
    candidate_sources: Count = 2
    """Sources for which one is chosen."""
    rounds: Count = 3
    """Rounds, in each of which every metric has its turn."""


@section
class MetricEvaluation:
    """How metrics are measured."""

    precision: ScorerPrecision = "float32"
    """Type of our scorer's products; the others are faster and equal to some thousandths: `bfloat16`, and `int8` on
    processors."""
    resamples: Annotated[int, Ge(40)] = 1000
    """Resamplings of the bootstrap intervals."""
    permutations: Annotated[int, Ge(20)] = 1000
    """Permutations of the test against the reference."""
    speed: MetricSpeed | None = None
    """Texts by which metrics are timed; without this key nothing is timed."""


@section
class MetricHardware:
    """Devices of a metric experiment."""

    accelerator: Literal["cpu", "gpu"] = "cpu"
    """Device that trains and scores."""
    devices: Count = 1
    """Devices of a translator's training."""
    threads: Count = 1
    """CPU threads of one process."""


@section
class Metric:
    """An experiment of the kind `metric`."""

    kind: Literal["metric"]
    """Kind of experiment."""
    experiment: FolderName
    """Name of the experiment; results go to `results/NAME`."""
    seed: ExperimentSeed = 1
    """Seed of all randomness; member N of the ensemble has the seed N above it."""
    texts: Places | None = None
    """Files of text, a sentence a line, on which encoders are pre-trained, and their tokenizer."""
    sentences: Count = 10_000_000
    """Most sentences of the texts, drawn at random, and 2,000,000 for the tokenizer; a million takes about 300 MB of
    memory."""
    vocabulary: Annotated[int, Ge(100), Le(250000)] = 8000
    """Pieces of that tokenizer, special ones included."""
    encoders: dict[Name, Encoder] = field(default_factory=dict)
    """A name for each encoder and where it comes from: `by: pretraining` or `by: hugging_face`."""
    reference: Reference
    """Reference models: an ensemble trained here, or a checkpoint."""
    pruning: Pruning | None = None
    """How metrics are pruned; without this key none are."""
    distillation: MetricDistillation | None = None
    """How metrics are distilled; without this key none are."""
    test_sets: Annotated[dict[Name, JudgedSet], MinLen(1)]
    """A name for each judged set."""
    metrics: dict[Name, OtherMetric] = field(default_factory=dict)
    """A name for each further metric, such as BERTScore, and what computes it: `by: bert-score` or `by: bleurt`."""
    evaluation: MetricEvaluation = MetricEvaluation()
    """How metrics are measured."""
    local_dir: Place | None = None
    """Folder in which models of the hub are looked for before they are fetched."""
    download_cache: Place | None = None
    """Folder of fetched files."""
    hardware: MetricHardware = MetricHardware()
    """Devices of the experiment."""
