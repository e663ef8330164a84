"""Settings of trainings, free of the libraries that train, so that configurations can be checked."""

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from weebill.errors import InputError

if TYPE_CHECKING:
    from weebill.generation.models import Generator

PACKAGES = ("transformers",)  # whose versions decide a generator's bits, beside PyTorch's
LEAST_RATE = 0.1  # share of the peak that a training's learning rate must reach


@dataclass(frozen=True)
class TrainingSettings:
    """How long and how to train.  Defaults are TEXTGEN's, whose code takes 32 · 4 examples an update."""

    epochs: float | None = None  # rounds through the text; either these
    updates: int | None = None  # or these
    batch_size: int = 32
    accumulate: int = 4  # batches an update
    learning_rate: float = 5e-5
    warmup: int = 500  # updates; then linearly to 0
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    precision: Literal["float32", "bfloat16", "float16"] = (
        "float32"  # of products; weights are float32
    )
    validate_every: int = 500  # updates; checkpoints are written then too
    keep: Literal["best", "last"] = (
        "best"  # the weights of lowest validation loss, or the last ones
    )

    def __post_init__(self) -> None:
        if (self.epochs is None) == (self.updates is None):
            raise InputError("training: give either `epochs` or `updates`")

    def updates_of(self, examples: int) -> int:
        """Updates in all, for a text of so many examples."""
        if self.updates is not None:
            return self.updates
        return max(1, math.ceil(self.epochs * examples / (self.batch_size * self.accumulate)))

    def check_schedule(self, updates: int) -> None:
        """Raise InputError if so many updates hardly move a weight; log it if they end within the warm-up.

        The paper's own do: 30 epochs of its news are 417 updates.
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
class Device:
    """Where to train and measure: on so many threads, or on a GPU."""

    accelerator: Literal["cpu", "gpu"] = "cpu"
    threads: int = 1

    def placed(self, generator: "Generator") -> "Generator":
        """The generator, its model moved there; int8 models run on the CPU alone, and stay."""
        import torch  # slow to import, and configurations are checked without it

        if self.accelerator == "cpu" or not generator.trainable:
            torch.set_num_threads(self.threads)
        else:
            generator.model.to("cuda")
        return generator
