"""Grids for the weights of int8 models, 8 or 4 bits: how a weight is rounded, stored, and loaded for products.

Activations are int8 with both.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor

from weebill.errors import InputError
from weebill.kernels.int8_layers import CodedWeight, Int4Weight, Int8Weight
from weebill.quantization import int4_groups
from weebill.quantization.grids import grid_named
from weebill.tensor_files import FLOAT


class WeightGrid(ABC):
    """Grid for weights (outputs, inputs).

    parts: the tensors that a file holds for each weight, with safetensors' types.
    """

    name: ClassVar[str]
    parts: ClassVar[Mapping[str, tuple[str, ...]]]

    @abstractmethod
    def stored(self, weight: Tensor) -> dict[str, Tensor]:
        """Return the parts of a weight.  Raises ValueError if it has NaN or infinity."""

    @abstractmethod
    def loaded(self, parts: Mapping[str, Tensor], inputs: int, isa: str) -> CodedWeight:
        """Return a weight for products of an instruction set, or portable."""

    @abstractmethod
    def rounded(self, weight: Tensor) -> Tensor:
        """Return a weight's nearest numbers on the grid, without gradient."""


class EightBits(WeightGrid):
    """Codes −127…127 with a scale for each output, w ≈ code / scale (TEXTGEN §3.4)."""

    name = "int8_rowwise"
    parts: ClassVar = {"codes": ("I8",), "scale": (FLOAT,)}

    def stored(self, weight: Tensor) -> dict[str, Tensor]:
        """Implement `WeightGrid`."""
        codes, scale = grid_named(self.name).quantize(weight.detach().float())
        return {"codes": codes.contiguous(), "scale": scale.flatten()}

    def loaded(self, parts: Mapping[str, Tensor], inputs: int, isa: str) -> CodedWeight:
        """Implement `WeightGrid`."""
        return Int8Weight(parts["codes"], parts["scale"], isa)

    def rounded(self, weight: Tensor) -> Tensor:
        """Implement `WeightGrid`."""
        return grid_named(self.name).round(weight)


class FourBits(WeightGrid):
    """Codes of `quantization.int4_groups`, two per byte."""

    name = "int4_groups"
    parts: ClassVar = {"codes": ("U8",), "step": ("BF16",)}

    def stored(self, weight: Tensor) -> dict[str, Tensor]:
        """Implement `WeightGrid`."""
        codes, step = int4_groups.quantize(weight)
        return {"codes": int4_groups.pack(codes), "step": step}

    def loaded(self, parts: Mapping[str, Tensor], inputs: int, isa: str) -> CodedWeight:
        """Implement `WeightGrid`."""
        return Int4Weight(int4_groups.unpack(parts["codes"]), parts["step"], inputs, isa)

    def rounded(self, weight: Tensor) -> Tensor:
        """Implement `WeightGrid`."""
        return int4_groups.round_weight(weight)


BITS = {8: EightBits(), 4: FourBits()}


def grid_of_bits(bits: int) -> WeightGrid:
    """Return the grid of `bits` bits.  Raises InputError if there is none."""
    if bits not in BITS:
        raise InputError(f"bits: {bits!r}, expected {' or '.join(map(str, BITS))}")
    return BITS[bits]
