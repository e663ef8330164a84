"""The grids that weights are rounded to: 8-bit by tensor or by row, and logarithmic 4-bit.

A grid fits its scale to a tensor, encodes the tensor as small integer codes, and decodes codes again.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor


class Grid(ABC):
    """A finite set of numbers per scale, and the rounding to it.

    name: as in configurations and `config.json`.  bits: per code on disk.
    integer: whether codes are integers proportional to the values, so that products can run on codes.
    """

    name: str
    bits: int
    integer: bool

    @abstractmethod
    def fit(self, x: Tensor) -> Tensor:
        """Return the scale for a tensor, float32, of a shape that broadcasts with it."""

    @abstractmethod
    def encode(self, x: Tensor, scale: Tensor) -> Tensor:
        """Return the code of the grid's nearest number, element by element: int8, the shape of x."""

    @abstractmethod
    def decode(self, codes: Tensor, scale: Tensor) -> Tensor:
        """Return the numbers that codes represent: float32, the shape of codes."""

    @abstractmethod
    def pack(self, codes: Tensor) -> Tensor:
        """Codes as they are stored, `bits` a code."""

    @abstractmethod
    def unpack(self, packed: Tensor, shape: torch.Size) -> Tensor:
        """Undo `pack`: return int8 codes of the given shape."""

    @abstractmethod
    def packed_shape(self, shape: torch.Size) -> tuple[torch.Size, torch.dtype]:
        """Return shape and type of the result of `pack` for codes of a shape."""

    @abstractmethod
    def scale_shape(self, shape: torch.Size) -> torch.Size:
        """Return the shape of the scale of a tensor of a shape."""

    def quantize(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Codes and fitted scale.  Raises ValueError where x is empty or not finite."""
        if not x.numel():
            raise ValueError("an empty tensor has no scale")
        if not bool(torch.isfinite(x).all()):
            raise ValueError("a tensor with NaN or infinity cannot be quantized")
        scale = self.fit(x)
        return self.encode(x, scale), scale

    def round(self, x: Tensor) -> Tensor:
        """Move x to the nearest numbers of the grid fitted to it; keep x's type, without gradient."""
        with torch.no_grad():
            scale = self.fit(x)
            return self.decode(self.encode(x, scale), scale).to(x.dtype)

    def straight_through(self, x: Tensor) -> Tensor:
        """`round` going forward, the identity going backward (fake quantization)."""
        return straight_through(x, self.round(x))


class _StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, rounded: Tensor) -> Tensor:
        return rounded.view_as(rounded)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None]:
        return grad, None


def straight_through(x: Tensor, rounded: Tensor) -> Tensor:
    """Return exactly the values of `rounded`; the gradient goes to x unchanged."""
    return _StraightThrough.apply(x, rounded)
