"""Settings of trainings, in a module that imports no training library, so that configurations can be checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from weebill.settings import (
    Accelerator,
    Amount,
    Computed,
    Count,
    Few,
    Follows,
    PartialShare,
    Positive,
    Weight,
)


@dataclass(frozen=True)
class Stage:
    """Stage of a training with its own text; the last stage lasts to the end."""

    updates: Count | None = None
    """Updates of this stage. The last stage has no number: it lasts to the end."""
    copies: Mapping[str, Amount] = field(default_factory=dict)
    """Number of copies of each pair in an epoch of this stage, by the name of the corpus; 0 leaves the corpus out,
    and a corpus without a number has one copy."""
    augmented: bool = True
    """Train on the rows that `distillation.augmentation` added, too."""


@dataclass(frozen=True)
class TrainingConfig:
    """Settings of a training. Defaults are those of WNGT20 §3 for students (Marian's transformer-base task)."""

    batch_tokens: Count = 8192
    """Largest number of positions in one batch of one device: source and target together, with padding."""
    updates: Count = 500_000
    """Largest number of updates. Those of a pruned student count from its start and include its `reset_to`."""
    learning_rate: Positive = 3e-4
    """Learning rate at its peak."""
    warmup: Annotated[Amount, Follows("updates", 0.1)] = 16_000
    """Updates in which the learning rate grows linearly up to its peak, fewer than `updates`. This default and those
    of `validate_every` and `checkpoint_every` follow a small `updates`, and `weebill check` prints the values."""
    decay: Literal["inverse-sqrt", "linear"] = "inverse-sqrt"
    """Fall of the learning rate after the warm-up: with the inverse square root of the updates, or linearly to 0 at
    the last of `updates`."""
    validate_every: Annotated[Count, Follows("updates", 0.1)] = 5_000
    """Updates between two validations (greedy BLEU): at most `updates`, and at most those that a recipe of `pruning`
    leaves for its last training. The last update is validated too."""
    patience: Amount = 20
    """Validations without a better BLEU before the training stops; 0 trains all `updates`. A training on a GPU goes
    on while it is validated, and stops one validation later."""
    checkpoint_every: Annotated[Count, Follows("updates", 0.1)] = 1_000
    """Updates between the checkpoints from which a killed run continues."""
    smoothing: PartialShare = 1e-4
    """Weight of the newest weights in their exponential average; 0 switches averaging off."""
    dropout: PartialShare = 0.0
    """Probability of dropping an activation."""
    label_smoothing: PartialShare = 0.0
    """Share of the probability that the loss spreads over all other pieces."""
    accumulate: Count = 1
    """Batches of one device that are summed up in one update."""
    clip_norm: Weight = 0.0
    """Largest norm of the gradient; 0 sets no limit."""
    max_pieces: Count = 200
    """Longest side of a pair, in pieces; longer pairs are left out of training."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Type of the matrix products; weights stay in float32. `auto` is `bfloat16` on a GPU that has it and `float32`
    on a CPU. `bfloat16` is faster on devices that have it; a device without it takes float32, and the log says so. On
    a GPU, `float32` rounds the operands of products to TF32."""
    cuda_graphs: bool = True
    """Record the passes of small networks and batches as CUDA graphs on a GPU, which launches them faster. Batches
    are padded to few shapes for that. Graphs are not used on several GPUs, under fake quantization, with guided
    alignment, or with a penalty or gates of a pruning method."""
    guided_alignment: Weight = 0.0
    """Weight of a loss that teaches the decoder from which source pieces each target piece comes; for students only.
    Marian's weight is 0.1, and 0 switches the loss off."""
    language: Annotated[str, Computed()] = ""
    """Language of the targets, or name of sacreBLEU's tokenizer, for the BLEU of validations; "" counts words."""
    decay_until: Annotated[int, Computed()] = 0
    """Update at which a linear decay ends; 0: the last of `updates`. A part of a training stops before it."""
    stages: tuple[Stage, ...] = ()
    """Curriculum: stages one after the other, each with its own choice of the text. Without stages, every epoch has
    all text."""

    def __post_init__(self) -> None:
        """Convert stages from the plain values of a configuration."""
        stages = (Stage(**s) if isinstance(s, dict) else s for s in self.stages)
        object.__setattr__(self, "stages", tuple(stages))

    def part(self, updates: int) -> "TrainingConfig":
        """Return the settings of a part of this training, whose learning rate falls as in the whole."""
        return replace(self, updates=updates, decay_until=self.decay_until or self.updates)


@dataclass(frozen=True)
class Hardware:
    """Devices of a training: one process on each device, with DDP if there are several.

    On one node, a training starts its processes itself; on several, a launcher starts one per device.
    """

    accelerator: Accelerator = "cpu"
    """Device that trains, translates and cleans. `rehearsal` runs a GPU's code, with its types of numbers, on the
    processor: `weebill rehearse` sets it instead of `gpu`."""
    devices: Few = 1
    """Processes or GPUs of one training job on a node; several train data-parallel."""
    threads: Few = 1
    """CPU threads of one process; a training has one process for each device. The same number gives the same weights,
    bit for bit."""
    nodes: Count = 1
    """Nodes of one training. Leave it at 1: Snakemake, on Slurm too, starts a job as one process on one node, and a
    training on more stops with an error. More are for a launcher that starts
    `weebill.translation.training.trainer.train` once per device on every node (`srun --nodes --ntasks-per-node`,
    `torchrun`)."""

    @property
    def processes(self) -> int:
        """Number of processes of one training, one for each device."""
        return self.devices * self.nodes
