"""Settings of the precisions below float32."""

from typing import Literal

from weebill.settings import Amount, Count, Positive, section


@section
class Finetuning:
    """Training that goes on with quantized weights and activations (WNGT20 §5)."""

    updates: Count = 6000
    """Updates of the fine-tuning."""
    learning_rate: Positive = 0.0001
    """Learning rate at its peak (WMT21 §3.4)."""
    warmup: Amount = 16_000
    """Updates of the warm-up, at most ten times `updates`; the papers' fine-tunings end within it."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Type of the arithmetic; `bfloat16` is faster, and rounds what lies on the grid once more."""
    validate_every: Count | None = None
    """Updates between two validations, by default those of `training`. The best validation is kept, in a shorter
    fine-tuning the last update."""


@section
class LogFinetuning(Finetuning):
    """Training that goes on with logarithmic weights."""

    warmup: Amount = 32_000
    """Updates of the warm-up: twice those of `int8`, as WMT21 found better."""


@section
class IntegerGrid:
    """An 8-bit grid."""

    activation_scale: Literal["mean-of-scales", "mean-of-maxima"] = "mean-of-maxima"
    """Formula of the activations' scales: `mean-of-maxima` is 127 / (mean + 1.1 deviations of the maxima), as in the
    published script; `mean-of-scales` is mean + 1.1 deviations of 127 / maximum, as printed in both papers. The
    default clips less and is nearer to float32: [measured](../docs/results/multi30k/activation_scales.md)."""
    compare_activation_scales: bool = False
    """`true` makes the precision by the other formula too, untuned, such as `int8-mean-of-scales`, and a table of
    both, with the errors of activations on the first `calibration_sentences` of each test set."""
    finetune: Finetuning | None = None
    """Makes the precision GRID`-finetuned`: training goes on with quantized weights and activations."""


@section
class LogGrid:
    """The 4-bit logarithmic grid."""

    finetune: LogFinetuning | None = None
    """Makes the precision `log4-finetuned`."""


@section
class Quantization:
    """The precisions below float32."""

    calibration_sentences: Count = 1000
    """Training sentences that are translated to find the ranges of activations."""
    int8: IntegerGrid | None = None
    """Makes the precision `int8`, one scale for each weight matrix; `{}` takes all defaults."""
    int8_rowwise: IntegerGrid | None = None
    """Makes the precision `int8_rowwise`, one scale for each row of a weight matrix."""
    log4: LogGrid | None = None
    """Makes the precision `log4`: 4-bit logarithmic weights."""
