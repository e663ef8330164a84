"""Settings of the trainings of metrics and encoders, in a module that imports no training library.

The environment `comet` reads this module, so it imports only the standard library and `weebill.settings`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from weebill.settings import Amount, Count, Follows, Ge, PartialShare, Positive, ProperShare, Weight


@dataclass(frozen=True)
class EncoderSettings:
    """Shape of an encoder that is made here, and the course of its training."""

    layers: Count = 4
    """Number of layers."""
    heads: Count = 4
    """Heads of each layer; `width` is a multiple of them."""
    width: Count = 256
    """Width of the embeddings and of the layers' outputs."""
    intermediate: Count = 1024
    """Neurons of each feed-forward block."""
    positions: Annotated[int, Ge(8)] = 258
    """Number of positions: two more than a sentence may have pieces."""
    dropout: PartialShare = 0.1
    """Probability of dropping an activation."""
    updates: Count = 10_000
    """Updates of the training."""
    batch_pieces: Annotated[int, Ge(16)] = 4096
    """Pieces in an update, with padding."""
    learning_rate: Positive = 5e-4
    """Highest learning rate: it grows linearly up to this value and falls linearly to 0."""
    warmup: Annotated[Amount, Follows("updates", 0.1)] = 500
    """Updates in which the learning rate grows, fewer than `updates`."""
    weight_decay: Weight = 0.01
    """Weight decay of AdamW."""
    clip_norm: Positive = 1.0
    """Largest norm of the gradient."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Type of the matrix products; weights stay in float32. `auto` is `bfloat16` on a GPU that has it and `float32`
    on a CPU. `bfloat16` is faster on devices that have it; a device without it takes float32, and the log says so.
    On a GPU, `float32` rounds the operands of products to TF32."""
    checkpoint_every: Count = 500
    """Updates between two checkpoints; a killed job continues from the last one."""


@dataclass(frozen=True)
class PretrainingSettings(EncoderSettings):
    """Encoder trained by masked language modelling; masking is BERT's and XLM-R's."""

    mask_share: ProperShare = 0.15
    """Share of the pieces that the encoder must predict."""


@dataclass(frozen=True)
class AttentionDistillationSettings(EncoderSettings):
    """Encoder that learns the self-attention of a larger one's last layer (MiniLM), as COMETINHO §8 proposes.

    It learns the distributions of the attention heads and the relations of their values to each other, from text
    without masks, and has the teacher's pieces.
    """

    teacher: str = field(kw_only=True)
    """Name in `encoders` of the encoder to learn from; it has as many `heads`, in layers of any width."""


@dataclass(frozen=True)
class RegressionSettings:
    """Training of a regression model by unbabel-comet; defaults are those of version 2.2.7 and its configurations."""

    kind: Literal["regression_metric", "referenceless_regression_metric"] = "regression_metric"
    """Class of unbabel-comet: a metric with references, or one without."""
    epochs: Count = 5
    """Largest number of epochs."""
    patience: Amount = 2
    """Epochs without a better Kendall's τ on the validation table before the training stops; 0 trains all epochs."""
    accumulate: Count = 8
    """Batches in an update."""
    clip_norm: Positive = 1.0
    """Largest norm of the gradient."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Type of the matrix products; weights stay in float32. `auto` is `bfloat16` on a GPU that has it and `float32`
    on a CPU. `bfloat16` is faster on devices that have it; a device without it takes float32, and the log says so."""
    checkpoint_every: Count = 200
    """Updates between two checkpoints; a killed job continues from the last one."""
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    """Hyperparameters of unbabel-comet's class that differ from its defaults, by its own names, such as `batch_size`,
    `hidden_sizes`, `layer` or `learning_rate`. `encoder_model` follows from the encoder's folder."""
