"""Linear layers with weights in the layout of the CPU's kernels, for many products with small inputs.

PyTorch multiplies float32 by MKL, which packs the weight anew at each call.  oneDNN with a packed weight is 1.5 to
2.5 times as fast for a decoder's products (32 to 256 rows); bfloat16 halves the time on processors that have it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain

import torch
from torch import Tensor, nn
from torch.nn import functional

from weebill.kernels.cpu_matmul import PackedLinear, for_onednn, multiplies_bfloat16
from weebill.kernels.cuda import card_multiplies_bfloat16

ROWS = 32  # input height that the layout is optimised for; others work as well
FEWEST_ROWS = 4  # below, a plain matrix-vector product is faster


def prepack(network: nn.Module, precision: str = "float32") -> None:
    """Pack the linear layers of a network on the CPU for inference; on other devices float32 is unchanged.

    This is permanent: the layers no longer follow their weights, which must not change or move any more.
    precision: float32; or bfloat16, which rounds weights, inputs and outputs of these layers, but not sums.
    """
    for module in _linears([network], precision):
        module.forward = _Packed(module, precision)


def fastest_precision(device: str) -> str:
    """Return bfloat16 for a GPU or processor that multiplies it natively, and in rehearsals, else float32."""
    if device == "cpu":
        return "bfloat16" if multiplies_bfloat16() else "float32"
    return "bfloat16" if device.startswith("cpu") or card_multiplies_bfloat16() else "float32"


@contextmanager
def prepacked(networks: Sequence[nn.Module]) -> Iterator[None]:
    """Pack layers as `prepack` does, but only within the context."""
    modules = [module for module in _linears(networks) if "forward" not in vars(module)]
    try:
        for module in modules:
            module.forward = _Packed(module)
        yield
    finally:
        for module in modules:
            vars(module).pop("forward", None)


def _linears(networks: Sequence[nn.Module], precision: str = "float32") -> list[nn.Linear]:
    """Return the plain linear layers that oneDNN can multiply in a precision, each once."""
    fits = for_onednn if precision == "float32" else torch.Tensor.numel
    modules = dict.fromkeys(chain.from_iterable(network.modules() for network in networks))
    return [module for module in modules if type(module) is nn.Linear and fits(module.weight)]


class _Packed:
    """Forward pass of a linear layer, without gradients; sums, input and output are float32 in any precision."""

    def __init__(self, linear: nn.Linear, precision: str = "float32") -> None:
        self.dtype = getattr(torch, precision)
        self.weight, self.bias = linear.weight.detach(), linear.bias
        with torch.no_grad():
            bias = None if self.bias is None else self.bias.to(self.dtype)
            self.product = PackedLinear(self.weight.to(self.dtype), bias, rows=ROWS)

    def __call__(self, x: Tensor) -> Tensor:
        if self.dtype == torch.float32 and x.numel() < FEWEST_ROWS * x.shape[-1]:
            return functional.linear(x, self.weight, self.bias)
        return self.product(x.to(self.dtype)).to(x.dtype)
