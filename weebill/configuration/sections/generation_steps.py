"""Settings of the steps of generation experiments."""

from typing import Annotated, Any, ClassVar, Literal

from weebill.generation.settings import TrainingSettings
from weebill.pruning.method import BlockPattern
from weebill.pruning.movement_settings import MovementShares
from weebill.settings import (
    Amount,
    Chosen,
    Count,
    Former,
    MinLen,
    Positive,
    Unique,
    Weight,
    section,
)


@section
class FineTune:
    """Train on the text's own labels."""

    training: TrainingSettings
    """How to train."""


@section
class DistillationLoss:
    """Loss of distil and of movement: α · CE(labels) + β · MSE(hidden states) + γ · T² · KL(teacher ‖ student)."""

    preset: Literal["paper", "published-code"] = "paper"
    """Values of the keys below: `paper` has α 0.1, β 3, γ 0.8, T 2, plain hidden states, the mean over layers;
    `published-code` has α 0, normalised hidden states, the sum over layers."""
    alpha: Weight | None = None
    """Weight of the labels' cross-entropy."""
    beta: Weight | None = None
    """Weight of the mean squared error of hidden states of matched layers."""
    gamma: Weight | None = None
    """Weight of T² · KL(teacher ‖ student)."""
    temperature: Positive | None = None
    """Temperature T."""
    over_layers: Literal["mean", "sum"] | None = None
    """Join of the layers' errors."""
    normalise: bool | None = None
    """Bring hidden states to mean 0 and variance 1 at each position first."""


@section
class Distil:
    """A student of some of the layers, with their weights, trained to be like the whole (TEXTGEN §3.2)."""

    layers: Count | Annotated[tuple[Amount, ...], MinLen(1), Unique()]
    """Number of layers, evenly spaced with the first and the last, or a list of them, counted from 0; of encoder and
    decoder each."""
    loss: DistillationLoss = DistillationLoss()
    """Loss of the student."""
    training: TrainingSettings
    """How to train."""


@section
class Movement(MovementShares):
    """Prune heads and neurons by movement; they are cut out in the end (TEXTGEN §3.3). The last weights are kept,
    whatever `training.keep` says: the best of validation would be early, unpruned ones."""

    FORMER: ClassVar = {"movement": "its keys beside 'method: movement'"}
    blocks: BlockPattern = "*"
    """Pattern of the names of the blocks, such as `encoder.*`."""
    loss: DistillationLoss | None = None
    """Loss of the training: that of distil, the model as it was before being the teacher, so that little text is not
    learnt by heart (`loss: {}` is its `paper` preset); without this key it learns from the labels alone, as the
    paper's."""
    training: TrainingSettings
    """How to train."""


@section
class QuantizationAware:
    """Train while all weights are seen rounded to 8 bits, a scale for each output (TEXTGEN §3.4)."""

    training: TrainingSettings
    """How to train."""


@section
class PostTraining:
    """Write the weights as int8; products then run on integers. It is the last step."""

    activations: Literal["each-token", "mean-of-scales", "mean-of-maxima"] = "each-token"
    """Quantization of the inputs of linear maps: `each-token` by its own largest magnitude, or by a scale from
    calibration, `mean-of-scales` or `mean-of-maxima`."""
    examples: Count = 64
    """Examples of the training text, to calibrate on."""


@section
class PruneVocabulary:
    """Keep the pieces that the training text uses, special tokens, every byte and what these are merged of (TEXTGEN
    §3.2); of byte-level BPE, as BART's and GPT-2's. Text of kept pieces is read and written as before. Other text is
    spelt in more and smaller pieces: compare bits per byte then, as the report does; perplexity is per token. Pieces
    of the tokenizer that the model has no row for are removed too, as the `<mask>` of bart-large-cnn (50,264 rows,
    50,265 pieces). If a text, the end of text or another such token needs one, the run stops: of a local folder at
    the start, else before the first training."""


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
