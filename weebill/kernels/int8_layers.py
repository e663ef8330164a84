"""Layers of Hugging Face models with weights of 8 or 4 bits: linear maps by integer products, embeddings row by row.

A weight (outputs, inputs) is held as codes: −127…127 with a scale per row, w = code / scale, or −8…7 with a step per
32 inputs of a row, w = code·step; never as float32.
Inputs of linear maps are quantized as they come, each row (token) by its own largest magnitude or by one
calibrated scale; y = Σ codes·codes / (both scales) + bias, with exact sums.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, Literal, NoReturn, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from weebill.errors import InputError
from weebill.kernels.extension import PORTABLE, array, extension
from weebill.quantization import int4_groups
from weebill.quantization.grids.int8 import INT8_LIMIT
from weebill.quantization.integer import integer_product

ROWS_OF_A_THREAD = 64  # at least: fewer rows are done before another thread has started
Activation = Literal["none", "relu", "gelu", "gelu_tanh", "silu"]
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda y: y,
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
    "silu": functional.silu,
}


def by_threads(multiply: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return multiply(x) for rows x (n, inputs), by as many threads as PyTorch uses if there are enough rows."""
    threads = min(torch.get_num_threads(), len(x) // ROWS_OF_A_THREAD)
    if threads < 2:
        return multiply(x)
    return torch.cat(in_threads(multiply, x.chunk(threads)))


def in_threads(work: Callable[[Tensor], Tensor], parts: Sequence[Tensor]) -> list[Tensor]:
    """Return the results of `work` on each part; each part has its own thread."""
    return list(map(work, parts) if len(parts) == 1 else _threads(len(parts)).map(work, parts))


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    """Return a pool of `count` threads; it is kept, because the kernels keep their memory by thread."""
    return ThreadPoolExecutor(count)


class CodedWeight(ABC):
    """Weight in one of two layouts: `compiled`, an object of the engine's `module`, or row by row for PyTorch.

    shape: (outputs, inputs).  bytes: size in memory.
    """

    shape: torch.Size
    bytes: int
    compiled: Any = None
    module: Any = None

    def __deepcopy__(self, _memo: dict[int, object]) -> Self:
        """Return the weight itself, which never changes, so that copies of a model share it."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse pickling: the compiled layout belongs to this processor."""
        raise InputError(
            "a model with int8 weights cannot be pickled; copy its folder, and load it there"
        )

    def multiply(
        self, x: Tensor, bias: Tensor | None, scale: float | None, activation: Activation = "none"
    ) -> Tensor:
        """Map x float32 (n, inputs) → (n, outputs); scale: scale of x; None: each row has its own."""
        if (compiled := self.compiled) is not None:
            kind = getattr(self.module.Activation, activation)
            offsets, step = None if bias is None else array(bias), scale or 0.0
            return by_threads(
                lambda rows: torch.from_numpy(compiled.multiply(array(rows), offsets, step, kind)),
                x,
            )
        own = scale
        if scale is None:
            own = (INT8_LIMIT / x.abs().amax(1, keepdim=True)).nan_to_num(posinf=1)
        y = self.products((x * own).round_().clamp_(-INT8_LIMIT, INT8_LIMIT)) / own
        return ACTIVATIONS[activation](y if bias is None else y + bias)

    def rows(self, indices: Tensor) -> Tensor:
        """Return the weights of some outputs (n,): float32 (n, inputs)."""
        if self.compiled is not None:
            return torch.from_numpy(self.compiled.rows(array(indices)))
        return self.numbers(indices)

    @abstractmethod
    def products(self, codes: Tensor) -> Tensor:
        """Return Σ code·w of activation codes, float32 (n, inputs) → (n, outputs), by PyTorch."""

    @abstractmethod
    def numbers(self, indices: Tensor) -> Tensor:
        """Return `rows` by PyTorch."""


class Int8Weight(CodedWeight):
    """Weight of 8 bits."""

    def __init__(self, codes: Tensor, scale: Tensor, isa: str):
        """Take codes int8 (outputs, inputs), scale float32 (outputs,); isa: of `kernels.extension`, or portable."""
        self.shape = codes.shape
        self.bytes = codes.numel() + 4 * len(scale)
        if isa == PORTABLE:
            self._codes, self._scale = codes, scale
        else:
            self.module = extension(isa)
            self.compiled = self.module.Int8Linear(array(codes), array(1 / scale))

    def products(self, codes: Tensor) -> Tensor:
        """Implement `CodedWeight`."""
        return integer_product(codes.to(torch.int8), self._codes).to(torch.float32) / self._scale

    def numbers(self, indices: Tensor) -> Tensor:
        """Implement `CodedWeight`."""
        return self._codes[indices].to(torch.float32) / self._scale[indices, None]


class Int4Weight(CodedWeight):
    """Weight of 4 bits."""

    def __init__(self, codes: Tensor, steps: Tensor, inputs: int, isa: str):
        """Take codes and steps of `quantization.int4_groups`; isa: of `kernels.extension`, or portable.

        Raises ValueError if codes, steps and inputs do not belong together.
        """
        groups = -(-inputs // int4_groups.GROUP)
        if codes.shape[1:] != (groups * int4_groups.GROUP,) or steps.shape != (len(codes), groups):
            raise ValueError(f"codes {(*codes.shape,)}, steps {(*steps.shape,)}, {inputs} inputs")
        self.shape = torch.Size((len(codes), inputs))
        self.bytes = codes.numel() // 2 + 2 * steps.numel()
        if isa == PORTABLE:
            self._codes, self._steps = codes, steps
        else:
            self.module = extension(isa)
            self.compiled = self.module.Int4Linear(array(codes), array(steps.float()), inputs)

    def products(self, codes: Tensor) -> Tensor:
        """Implement `CodedWeight`."""
        return codes @ int4_groups.dequantize(self._codes, self._steps, self.shape[1]).t()

    def numbers(self, indices: Tensor) -> Tensor:
        """Implement `CodedWeight`."""
        return int4_groups.dequantize(self._codes[indices], self._steps[indices], self.shape[1])


class Int8Linear(nn.Module):
    """Linear map with a float32 `bias`; `activation`, which may be set, is applied to its outputs."""

    weight = None  # T5 looks for the type of the weight, to convert inputs to it

    def __init__(
        self,
        weight: CodedWeight,
        bias: nn.Parameter | None,
        scale: float | None,
        activation: Activation = "none",
    ):
        super().__init__()
        self.coded, self.scale, self.activation = weight, scale, activation
        self.register_parameter("bias", bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (…, inputs) → (…, outputs)."""
        outputs, inputs = self.coded.shape
        y = self.coded.multiply(x.reshape(-1, inputs), self.bias, self.scale, self.activation)
        return y.view(*x.shape[:-1], outputs)

    def extra_repr(self) -> str:
        outputs, inputs = self.coded.shape
        return f"in_features={inputs}, out_features={outputs}"


class Int8Embedding(nn.Module):
    """Table of embeddings, each multiplied by `factor`."""

    def __init__(self, weight: CodedWeight, factor: float = 1.0):
        super().__init__()
        self.coded, self.factor = weight, factor

    def forward(self, indices: Tensor) -> Tensor:
        """Look up indices (…) → (…, width)."""
        rows = self.coded.rows(indices.flatten()).view(*indices.shape, self.coded.shape[1])
        return rows if self.factor == 1 else rows * self.factor

    def __getattr__(self, name: str) -> Tensor | nn.Module:
        """Return a parameter, buffer or module; the error for `weight`, which does not exist, names what to use."""
        if name == "weight":
            raise AttributeError(
                "an int8 table has no `weight`; its `coded` has a shape, and returns rows in float32"
            )
        return super().__getattr__(name)
