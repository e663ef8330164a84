"""Float32 matrix products by oneDNN or MKL, where training on CPUs spends its time.

PyTorch uses MKL for float32 products, which leaves AVX-512 unused on processors that Intel did not make.  There
oneDNN takes half the time, in the same arithmetic.  Without AVX-512, MKL is a tenth faster.  On Intel's processors
with AVX-512, oneDNN takes 1.0 to 1.2 times as long as MKL, and twice as long for gradients of weights, whose
operands it copies first; so trainings use MKL.  But oneDNN is faster with weights that were packed before.
"""

import logging
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

# oneDNN and PyTorch's layer over it cache 1,024 prepared products each, scratch memory included.  Batches of text
# hardly ever repeat a shape, so the caches would fill with gigabytes that are never used again, and fresh pages
# cost more time than preparing a product anew.  Both libraries read these sizes at the first product.
os.environ.setdefault("LRU_CACHE_CAPACITY", "64")
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from weebill.kernels.cuda import card_multiplies_bfloat16

PLAIN_LINEAR = functional.linear
ONEDNN_IS_USED = (
    torch.backends.mkldnn.is_available() and torch.backends.cpu.get_cpu_capability() != "AVX2"
)


def trains_by_onednn(capabilities: Mapping[str, Any]) -> bool:
    """Return True if trainings use oneDNN on a processor that `torch.cpu.get_capabilities` describes."""
    return ONEDNN_IS_USED and not str(capabilities.get("cpu_name", "")).startswith("Intel")


TRAINS_BY_ONEDNN = trains_by_onednn(torch.cpu.get_capabilities())


def product(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return left (n, k) · right (k, m) + bias (m,), by the fastest kernel for the operands; without gradients."""
    if TRAINS_BY_ONEDNN and for_onednn(left, right):
        return onednn_product(left, right, bias)
    return torch.mm(left, right) if bias is None else torch.addmm(bias, left, right)


def add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    """Add left (n, k) · right (k, m) to `total` (n, m) in place, by the fastest kernel; without gradients."""
    if TRAINS_BY_ONEDNN and for_onednn(left, right):
        total += onednn_product(left, right)
    else:
        total.addmm_(left, right)


def onednn_product(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return left (n, k) · right (k, m) + bias (m,) by oneDNN, for operands that `for_onednn` accepts."""
    return torch.ops.mkldnn._linear_pointwise(left, right.t(), bias, "none", [], "")


def for_onednn(*operands: Tensor) -> bool:
    """Return True if oneDNN can multiply these (float32 on the CPU, none empty) and uses the whole processor."""
    return ONEDNN_IS_USED and all(
        value.dtype == torch.float32 and value.device.type == "cpu" and value.numel()
        for value in operands
    )


def multiplies_bfloat16() -> bool:
    """Return True if the processor multiplies bfloat16 numbers, which is then faster than float32; few do."""
    has = torch.cpu.get_capabilities()
    native = has.get("avx512_bf16", False) or has.get("amx_bf16", False)
    return native and torch.backends.mkldnn.is_available()


@cache
def training_precision(wanted: str, accelerator: str) -> str:
    """Return the type of a training's products: as wanted, but float32 on a device that does not multiply bfloat16.

    On a CPU, PyTorch's products in bfloat16 then take up to a hundred times as long as those in float32; for a GPU,
    Triton cannot compile the kernels.  "auto" is bfloat16 on a GPU that multiplies it and in its rehearsal, and
    float32 elsewhere.
    """
    if wanted == "float32" or (wanted == "auto" and accelerator == "cpu"):
        return "float32"
    if accelerator == "rehearsal":
        return "bfloat16"
    has = card_multiplies_bfloat16() if accelerator == "gpu" else multiplies_bfloat16()
    if not has and wanted == "bfloat16":
        device = "GPU" if accelerator == "gpu" else "processor"
        logging.warning(f"this {device} has no products in bfloat16: the training takes float32")
    return "bfloat16" if has else "float32"


class _Linear(torch.autograd.Function):
    """Linear map of x (n, in) by weight (out, in) and bias (out,) or None, as `functional.linear`."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return onednn_product(x, weight.t(), bias)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        for_x, for_weight, for_bias = ctx.needs_input_grad
        return (
            onednn_product(grad, weight) if for_x else None,
            onednn_product(x.t(), grad).t() if for_weight else None,
            grad.sum(0) if for_bias else None,
        )


class OneDnnLinears:
    """Context in which oneDNN computes float32 `functional.linear` on the CPU, for any module.

    It replaces the function: torch would ask a TorchFunctionMode about every operation and attribute of tensors.
    """

    def __enter__(self) -> None:
        self._before, functional.linear = functional.linear, _linear

    def __exit__(self, *_: object) -> None:
        functional.linear = self._before


def training_linears() -> AbstractContextManager[None]:
    """Return a context in which the linear layers of a training are computed by the fastest kernels."""
    return OneDnnLinears() if TRAINS_BY_ONEDNN else nullcontext()


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    if torch.is_autocast_enabled("cpu") or not for_onednn(input, weight):
        return PLAIN_LINEAR(input, weight, bias)
    rows = input.reshape(-1, input.shape[-1])
    return _Linear.apply(rows, weight, bias).view(*input.shape[:-1], weight.shape[0])


class PackedLinear:
    """Linear map with a copy of the weight in the layout of the CPU's kernels; without gradients."""

    def __init__(
        self, weight: Tensor, bias: Tensor | None, activation: str | None = None, rows: int = 32
    ) -> None:
        """Prepare the weight (out, in), float32 or bfloat16, like inputs and outputs; sums are float32.

        A processor that cannot multiply bfloat16 multiplies the rounded numbers in float32.  activation: gelu, relu
        or None.  rows: the input height that the layout is optimised for.
        """
        self.activation = activation
        rounded = weight.dtype == torch.bfloat16 and weight.device.type == "cpu"
        self._widened = rounded and not multiplies_bfloat16()
        dtype = torch.float32 if self._widened else weight.dtype
        self.weight = weight.detach().to(dtype)
        self.bias = None if bias is None else bias.detach().to(dtype)
        native = rounded and not self._widened and weight.numel() > 0
        self._packed = for_onednn(self.weight) or native
        if self._packed:
            self.weight = torch.ops.mkldnn._reorder_linear_weight(self.weight, rows)
        elif self.weight.data_ptr() == weight.data_ptr():
            # Tensors of a file have arbitrary addresses, on which the last digits of products depend.
            self.weight = self.weight.clone()

    def __call__(self, x: Tensor) -> Tensor:
        """Map x (n, …, in) → (n, …, out)."""
        if self._widened:
            return self._product(x.float()).to(x.dtype)
        return self._product(x)

    def _product(self, x: Tensor) -> Tensor:
        if self._packed:
            if not x.numel():
                return x.new_empty(*x.shape[:-1], len(self.weight))
            name = self.activation or "none"
            exact = "none"  # the GELU itself, not its approximation by tanh
            return torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, name, [], exact)
        y = functional.linear(x, self.weight, self.bias)
        return y if self.activation is None else getattr(functional, self.activation)(y)
