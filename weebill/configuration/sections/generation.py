"""Settings of a whole `generation` experiment."""

from typing import Annotated, Any, ClassVar, Literal

from weebill.configuration.sections.generation_texts import StartingModel, TextData
from weebill.configuration.sections.origins import Fetched
from weebill.configuration.sections.translation import ExperimentSeed
from weebill.generation.settings import SearchSettings, TrainingSettings
from weebill.pruning.method import BlockPattern
from weebill.pruning.movement_settings import MovementShares
from weebill.settings import (
    Amount,
    Chosen,
    Count,
    Distinct,
    FolderName,
    Former,
    Ge,
    Named,
    Names,
    Positive,
    Several,
    Weight,
    section,
)


@section
class FineTune:
    """Training on the text's own labels."""

    training: TrainingSettings
    """Settings of the training."""


@section
class DistillationLoss:
    """Loss of `distil` and `movement`: α · CE(labels) + β · MSE(hidden states) + γ · T² · KL(teacher ‖ student)."""

    preset: Literal["paper", "published-code"] = "paper"
    """Default values of the keys below: `paper` has α 0.1, β 3, γ 0.8, T 2, plain hidden states, the mean over
    layers; `published-code` has α 0, normalised hidden states, the sum over layers."""
    alpha: Weight | None = None
    """Weight of the labels' cross-entropy."""
    beta: Weight | None = None
    """Weight of the mean squared error of hidden states of matched layers."""
    gamma: Weight | None = None
    """Weight of T² · KL(teacher ‖ student)."""
    temperature: Positive | None = None
    """Temperature T."""
    over_layers: Literal["mean", "sum"] | None = None
    """Aggregation of the layers' errors."""
    normalise: bool | None = None
    """Normalise hidden states to mean 0 and variance 1 at each position before the comparison."""


@section
class Distil:
    """Student with some of the layers and their weights, trained to imitate the whole model (TEXTGEN §3.2)."""

    layers: Count | Distinct[Amount]
    """Number of layers, evenly spaced with the first and the last, or a list of layers, counted from 0; the same in
    encoder and decoder."""
    loss: DistillationLoss = DistillationLoss()
    """Loss of the student."""
    training: TrainingSettings
    """Settings of the training."""


@section
class Movement(MovementShares):
    """Movement pruning of heads and neurons, which are cut out after the training (TEXTGEN §3.3).

    The last weights are kept, regardless of `training.keep`: the best ones in validation would be early, unpruned
    weights.
    """

    FORMER: ClassVar = {"movement": "its keys beside 'method: movement'"}
    blocks: BlockPattern = "*"
    """Pattern of the names of the blocks, such as `encoder.*`."""
    loss: DistillationLoss | None = None
    """Loss of the training, same as in `distil`, with the unpruned model as the teacher, which prevents overfitting
    on little text (`loss: {}` is the `paper` preset). Without this key the model learns from the labels only, as in
    the paper."""
    training: TrainingSettings
    """Settings of the training."""


@section
class QuantizationAware:
    """Training with all weights rounded to 8 bits in the forward pass, a scale for each output (TEXTGEN §3.4)."""

    training: TrainingSettings
    """Settings of the training."""


@section
class PostTraining:
    """Conversion of the weights to int8, with products of integers; it must be the last step."""

    activations: Literal["each-token", "mean-of-scales", "mean-of-maxima"] = "each-token"
    """Quantization of the inputs of linear maps: `each-token` scales each token by its largest magnitude;
    `mean-of-scales` and `mean-of-maxima` use a scale from calibration."""
    examples: Count = 64
    """Examples of the training text for the calibration."""


@section
class PruneVocabulary:
    """Vocabulary of only the needed pieces (TEXTGEN §3.2).

    These are the pieces that the training text uses, the special tokens, every byte, and the pieces from which these
    are merged. The step needs byte-level BPE, such as that of BART and GPT-2. Text of kept pieces is read and written
    as before. Other text consists of more and smaller pieces: compare bits per byte then, as the report does, because
    perplexity is per token. Pieces of the tokenizer without a row in the model are removed too, such as the `<mask>`
    of bart-large-cnn (50,264 rows, 50,265 pieces). If a text, the end of text or another such token needs such a
    piece, the run stops: at the start for a model in a local folder, else before the first training.
    """


Step = Annotated[
    Any,
    Chosen(
        "method",
        {
            "fine-tune": FineTune,
            "distil": Distil,
            "movement": Movement,
            "quantization-aware": QuantizationAware,
            "post-training": PostTraining,
            "prune-vocabulary": PruneVocabulary,
        },
    ),
    Former({"prune": "movement, with its keys beside the method's name"}),
]


@section
class Pipeline:
    """Sequence of steps that are applied to a model."""

    model: str
    """Name of a model in `models`."""
    steps: Names
    """Names of steps in `steps`."""


@section
class Perplexity:
    """Settings of the perplexity measurement."""

    window: Annotated[int, Ge(2)] = 1024
    """Tokens that the model sees at once."""
    stride: Count = 512
    """Tokens by which the window moves."""


@section
class GenerationSpeed:
    """Settings of the speed measurement."""

    examples: Count = 10
    """Timed examples, one after another on one core."""
    given: Count = 256
    """Largest number of tokens of each example."""
    new_tokens: Count = 64
    """Exact number of tokens that the model writes."""
    rounds: Count = 5
    """Number of rounds; each round measures every variant once."""


@section
class GenerationEvaluation:
    """Settings of the measurement of generators."""

    resamples: Annotated[int, Ge(40)] = 1000
    """Resamplings of the bootstrap."""
    search: SearchSettings = SearchSettings()
    """Settings of the search for summaries."""
    perplexity: Perplexity = Perplexity()
    speed: GenerationSpeed = GenerationSpeed()


@section
class GenerationHardware:
    """Devices of a generation experiment."""

    accelerator: Literal["cpu", "gpu"] = "cpu"
    """Device that trains and measures."""
    devices: Literal[1] = 1
    """Devices of a training."""
    threads: Count = 1
    """Threads of a process on the CPU."""


@section
class Generation(Fetched):
    """Experiment of the kind `generation`."""

    kind: Literal["generation"]
    """Kind of experiment."""
    experiment: FolderName
    """Name of the experiment; results go to `results/NAME`."""
    seed: ExperimentSeed = 1
    """Seed of all randomness: weights, order of the text, noise, dropout, first scores."""
    data: Named[TextData]
    """Texts by name."""
    models: Named[StartingModel]
    """Models that pipelines start from, by name."""
    steps: Named[Step]
    """Steps that can be applied to a model, by name."""
    pipelines: Several[Pipeline]
    """List of `{model, steps}`: a name in `models`, and names in `steps`. Every intermediate variant is made once and
    measured."""
    evaluation: GenerationEvaluation = GenerationEvaluation()
    hardware: GenerationHardware = GenerationHardware()
    """Devices of the experiment."""
