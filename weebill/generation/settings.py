"""Settings of trainings and of search, in a module that imports no training library."""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from weebill.errors import InputError
from weebill.settings import (
    Accelerator,
    Amount,
    Count,
    Few,
    Follows,
    PartialShare,
    Positive,
    Weight,
)

PACKAGES = ("transformers",)  # their versions affect a generator's bits, as PyTorch's does
# Endings of the library's settings of forced and forbidden tokens, and of the numbers of special ones.
OF_TOKENS = ("_token_id", "suppress_tokens", "bad_words_ids")
LEAST_RATE = 0.1  # share of the peak that a training's learning rate must reach


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of a training. Defaults are TEXTGEN's, whose code has 32 · 4 examples in an update."""

    epochs: Positive | None = None
    """Rounds through the text; either these or `updates`."""
    updates: Count | None = None
    """Updates; either these or `epochs`."""
    batch_size: Count = 32
    """Examples in a batch."""
    accumulate: Count = 4
    """Batches in an update."""
    learning_rate: Positive = 5e-5
    """Learning rate of Adam at its peak; after the warm-up it falls to 0 linearly."""
    warmup: Annotated[Amount, Follows("updates", 0.1)] = 500
    """Updates of the warm-up, fewer than `updates`. With `epochs`, the text decides the number of updates, and the
    warm-up is at most ten times that number: the learning rate must reach a tenth of its peak."""
    weight_decay: Weight = 0.01
    """Weight decay of weights; biases and norms have none."""
    clip_norm: Weight = 1.0
    """Largest norm of the gradient; 0 sets no limit."""
    precision: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Type of the matrix products; weights stay in float32. `auto` is `bfloat16` on a GPU that has it and `float32`
    on a CPU; `bfloat16` and `float16` are for a GPU, where `float32` rounds the operands of products to TF32."""
    validate_every: Annotated[Count, Follows("updates", 0.1)] = 500
    """Updates between two validations; checkpoints are written then too."""
    keep: Literal["best", "last"] = "best"
    """Weights to keep: those of the lowest validation loss (`best`), or the `last`."""

    def __post_init__(self) -> None:
        if (self.epochs is None) == (self.updates is None):
            raise InputError("training: give either `epochs` or `updates`")

    def updates_of(self, examples: int) -> int:
        """Return the total number of updates for a text of `examples` examples."""
        if self.updates is not None:
            return self.updates
        return max(1, math.ceil(self.epochs * examples / (self.batch_size * self.accumulate)))

    def check_schedule(self, updates: int) -> None:
        """Raise InputError if `updates` are too few to learn anything; warn if they end within the warm-up.

        The paper's updates end there: 30 epochs of its news are 417 updates.
        """
        reached = updates / self.warmup if self.warmup else 1.0
        told = f"training: warmup {self.warmup:,} of {updates:,} updates: the learning rate ends at {reached:.1%} of"
        if reached < LEAST_RATE:
            raise InputError(
                f"{told} its peak and little is learnt; train longer, or write 'warmup: {updates // 10}', a tenth of "
                "the updates"
            )
        if reached < 1:
            logging.warning("%s its peak", told)


@dataclass(frozen=True)
class LowRankSettings:
    """Updates of low rank instead of whole weights (LoRA): W + α / r · B A. Default values are those of peft."""

    rank: Count = 8
    """Rank r of the update of each weight matrix."""
    alpha: Positive = 8
    """Factor α."""
    dropout: PartialShare = 0.0
    """Probability of dropping an input of the update."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class SearchSettings:
    """Settings of the search for summaries; of the model's own settings, only forced and forbidden tokens stay."""

    beam: Few = 4
    """Number of hypotheses in the beam."""
    max_tokens: Count = 128
    """Largest number of tokens of a summary, its end included, and of the articles' leads in comparisons."""
    min_tokens: Amount = 0
    """Smallest number of tokens of a summary, its end included."""
    no_repeat: Amount = 0
    """Length of spans that a summary must not repeat, in tokens; 0 allows all."""
    length_penalty: float = 1.0
    """Exponent of the length that divides a hypothesis' score."""
    batch_size: Count = 16
    """Articles in a batch."""

    def options(self, own: Mapping[str, object]) -> dict[str, object]:
        """Return the options as `generate()` keyword arguments; None switches off the model's other settings."""
        given_up = {
            name: None
            for name, value in own.items()
            if value is not None and not name.startswith("_") and not name.endswith(OF_TOKENS)
        }
        return given_up | {
            "do_sample": False,
            "num_beams": self.beam,
            "num_return_sequences": 1,
            "max_new_tokens": self.max_tokens,
            "min_new_tokens": self.min_tokens or None,
            "no_repeat_ngram_size": self.no_repeat,
            "length_penalty": self.length_penalty,
            "early_stopping": False,
            "use_cache": True,
        }


@dataclass(frozen=True)
class Device:
    """Device for training and measurement: a number of CPU threads, or a GPU."""

    accelerator: Accelerator = "cpu"
    threads: int = 1
