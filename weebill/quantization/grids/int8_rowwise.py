"""Grid `int8_rowwise`: 8-bit integers with a scale for each row."""

from typing import TYPE_CHECKING

from weebill.quantization.grids.int8 import Int8, scale_of_maximum

if TYPE_CHECKING:
    from torch import Tensor


class Int8Rowwise(Int8):
    """Same as `Int8`, with a scale per output row (first dimension), no zero point (TEXTGEN §3.4)."""

    name = "int8_rowwise"
    sentence = "Precision `int8_rowwise`, with one scale for each row of a weight matrix."
    bytes_per_weight = 1.2

    def fit(self, x: "Tensor") -> "Tensor":
        return scale_of_maximum(x.detach().abs().amax(tuple(range(1, x.dim())), keepdim=True))

    def scale_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape[0], *(1 for _ in shape[1:])
