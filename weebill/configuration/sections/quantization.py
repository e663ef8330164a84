"""Settings of the precisions below float32."""

from typing import Literal

from weebill.settings import Amount, Count, Positive, section


@section
class Finetuning:
    """Continued training with quantized weights and activations (WNGT20 §5)."""

    updates: Count = 6000
    """Updates of the fine-tuning."""
    learning_rate: Positive = 0.0001
    """Learning rate at its peak (WMT21 §3.4)."""
    warmup: Amount = 16_000
    """Updates of the warm-up, at most ten times `updates`; the papers' fine-tunings end within it."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Type of the arithmetic; `bfloat16` is faster, and rounds the values of the grid once more."""
    validate_every: Count | None = None
    """Updates between two validations, by default those of `training`. The weights of the best validation are kept; a
    fine-tuning without validation keeps its last update."""


@section
class LogFinetuning(Finetuning):
    """Continued training with logarithmic weights."""

    warmup: Amount = 32_000
    """Updates of the warm-up: twice those of `int8`, which WMT21 found better."""


@section
class IntegerGrid:
    """Settings of an 8-bit grid."""

    activation_scale: Literal["mean-of-scales", "mean-of-maxima"] = "mean-of-maxima"
    """Formula of the activations' scales: `mean-of-maxima` is 127 / (mean + 1.1 deviations of the maxima), as in the
    published script; `mean-of-scales` is mean + 1.1 deviations of 127 / maximum, as printed in both papers. The
    default clips less and is nearer to float32: [measured](../docs/results/multi30k/activation_scales.md)."""
    compare_activation_scales: bool = False
    """`true` also makes the precision with the other formula, without fine-tuning, such as `int8-mean-of-scales`, and
    a table of both, with the errors of activations on the first `calibration_sentences` of each test set."""
    finetune: Finetuning | None = None
    """Fine-tuning, which makes the precision GRID`-finetuned`: training continues with quantized weights and
    activations."""


@section
class LogGrid:
    """Settings of the 4-bit logarithmic grid."""

    finetune: LogFinetuning | None = None
    """Fine-tuning, which makes the precision `log4-finetuned`."""


@section
class Quantization:
    """Precisions below float32."""

    calibration_sentences: Count = 1000
    """Training sentences that are translated to find the ranges of activations."""
    int8: IntegerGrid | None = None
    """Precision `int8`, with one scale for each weight matrix; `{}` means all defaults."""
    int8_rowwise: IntegerGrid | None = None
    """Precision `int8_rowwise`, with one scale for each row of a weight matrix."""
    log4: LogGrid | None = None
    """Precision `log4`, with 4-bit logarithmic weights."""
