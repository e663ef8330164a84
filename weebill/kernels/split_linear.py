"""Float32 linear maps on the matrix unit (AMX), which multiplies bytes: twice as fast as the vector units.

Each number becomes an integer of three bytes, in units of its row, and bytes are multiplied exactly.  The rounding
is 2⁻²⁴ of a row's largest number, about that of float32's own sums (Ootomo, Ozaki & Yokota 2024, "DGEMM on integer
matrix multiplication unit", describe the scheme for float64).
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from weebill.kernels.cpu_matmul import PackedLinear
from weebill.kernels.extension import array, available, extension, fastest
from weebill.kernels.int8_layers import by_threads

ISA = "amx"
MOST_INPUTS = 2**31 // (3 * 255 * 128)  # products whose sum fits in 32 bits


@cache
def multiplies_by_bytes() -> bool:
    """Return True if this machine has the matrix unit, and the kernels for it."""
    return ISA in available() and fastest() == ISA


def inference_linear(
    weight: Tensor, bias: Tensor | None, activation: str | None = None, rows: int = 32
) -> Callable[[Tensor], Tensor]:
    """Return the fastest linear map in the weight's type for many products; it is called like `PackedLinear`."""
    on_cpu = weight.dtype == torch.float32 and weight.device.type == "cpu"
    if on_cpu and 0 < weight.shape[1] <= MOST_INPUTS and len(weight) and multiplies_by_bytes():
        return SplitLinear(weight, bias, activation)
    return PackedLinear(weight, bias, activation, rows)


class SplitLinear:
    """Linear map whose weight is held as bytes; without gradients.  The weight is a copy."""

    def __init__(self, weight: Tensor, bias: Tensor | None, activation: str | None = None) -> None:
        """Take weight (outputs, inputs); a weight that is not finite makes NaN; activation: relu, gelu, gelu_tanh."""
        module = extension(ISA)
        self._compiled = module.SplitLinear(array(weight))
        self._bias = None if bias is None else array(bias)
        self._kind = getattr(module.Activation, activation or "none")
        self._outputs, self._inputs = weight.shape

    def __call__(self, x: Tensor) -> Tensor:
        """Map x float32 (n, …, inputs) → (n, …, outputs); rows with NaN or infinite numbers become NaN."""
        y = by_threads(
            lambda rows: torch.from_numpy(
                self._compiled.multiply(array(rows), self._bias, self._kind)
            ),
            x.reshape(-1, self._inputs),
        )
        return y.view(*x.shape[:-1], self._outputs)
