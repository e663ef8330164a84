"""Grid `int8`: 8-bit integers with one scale per tensor; activations are rounded to it too."""

from typing import TYPE_CHECKING, Literal

from weebill.quantization.grids import Finetuning, Grid
from weebill.settings import section

if TYPE_CHECKING:
    from torch import Tensor

INT8_LIMIT = 127  # symmetric: −128 is not used (WNGT20 §5.1)


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


class Int8(Grid):
    """Integers −127…127 over a scale of 127 / max|x| for the whole tensor (WNGT20 §5.1): x ≈ code / scale."""

    name = "int8"
    integer = True
    settings = IntegerGrid
    sentence = "Precision `int8`, with one scale for each weight matrix; `{}` means all defaults."

    def fit(self, x: "Tensor") -> "Tensor":
        return scale_of_maximum(x.detach().abs().amax())

    def encode(self, x: "Tensor", scale: "Tensor") -> "Tensor":
        return (x.float() * scale).round_().clamp_(-INT8_LIMIT, INT8_LIMIT).char()

    def decode(self, codes: "Tensor", scale: "Tensor") -> "Tensor":
        return codes.float() / scale


def scale_of_maximum(maximum: "Tensor") -> "Tensor":
    """Return 127 / maximum; 1 for a maximum of 0, where codes are zero under any scale."""
    maximum = maximum.float()
    limit = maximum.new_full(maximum.shape, INT8_LIMIT)  # 127 / x would multiply by 1 / x
    return limit / maximum.where(maximum > 0, limit)
