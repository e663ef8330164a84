"""The grids that weights are rounded to: 8-bit by tensor or by row, and logarithmic 4-bit.

A grid fits its scale to a tensor, encodes the tensor as small integer codes, and decodes codes again.
"""

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor

from weebill.errors import InputError, nearest
from weebill.quantization.packing import pack_nibbles, unpack_nibbles

INT8_LIMIT = 127  # symmetric: −128 is not used (WNGT20 §5.1)


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


class Int8(Grid):
    """Integers −127…127 over a scale of 127 / max|x| for the whole tensor (WNGT20 §5.1): x ≈ code / scale."""

    name = "int8"
    bits = 8
    integer = True

    def fit(self, x: Tensor) -> Tensor:
        return _scale_of_maximum(x.detach().abs().amax())

    def encode(self, x: Tensor, scale: Tensor) -> Tensor:
        return (x.to(torch.float32) * scale).round_().clamp_(-INT8_LIMIT, INT8_LIMIT).to(torch.int8)

    def decode(self, codes: Tensor, scale: Tensor) -> Tensor:
        return codes.to(torch.float32) / scale

    def pack(self, codes: Tensor) -> Tensor:
        return codes.contiguous()

    def unpack(self, packed: Tensor, shape: torch.Size) -> Tensor:
        return packed.view(shape)

    def packed_shape(self, shape: torch.Size) -> tuple[torch.Size, torch.dtype]:
        return torch.Size(shape), torch.int8

    def scale_shape(self, shape: torch.Size) -> torch.Size:
        return torch.Size(())


class Int8Rowwise(Int8):
    """As `Int8`, with a scale per output row (first dimension), no zero point (TEXTGEN §3.4)."""

    name = "int8_rowwise"

    def fit(self, x: Tensor) -> Tensor:
        return _scale_of_maximum(x.detach().abs().amax(tuple(range(1, x.dim())), keepdim=True))

    def scale_shape(self, shape: torch.Size) -> torch.Size:
        return torch.Size((shape[0], *(1 for _ in shape[1:])))


class Log4(Grid):
    """Sixteen numbers ±S·2^k, k = −7…0, with one S a tensor (WNGT20 §5.2, Aji & Heafield 2020).

    A number goes to the nearest of them, so between S·2^k and S·2^(k+1) the border is 1.5·S·2^k.
    A code's lowest three bits are k + 7, the fourth is the sign; there is no zero.
    """

    name = "log4"
    bits = 4
    integer = False
    octaves = 8

    def fit(self, x: Tensor) -> Tensor:
        """S from max|x|, then S ← Σ a·|x| / Σ a² with a = |rounded x| / S, until no number changes its code.

        Each such step lowers the squared error, so it ends; in sorted numbers a step costs next to nothing.
        """
        magnitudes = np.sort(x.detach().abs().to("cpu", torch.float32).flatten().numpy())
        prefix = np.concatenate([[0.0], np.cumsum(magnitudes, dtype=np.float64)])
        powers = np.exp2(np.arange(1 - self.octaves, 1.0))  # a: 2^-7 … 1
        scale, before = float(magnitudes[-1]), None
        while scale > 0:
            borders = (1.5 * scale * powers[:-1]).astype(np.float32)
            cuts = np.searchsorted(magnitudes, borders)
            if before is not None and np.array_equal(cuts, before):
                break
            before = cuts
            edges = np.concatenate([[0], cuts, [magnitudes.size]])
            scale = float(powers @ np.diff(prefix[edges])) / float(powers**2 @ np.diff(edges))
        return torch.tensor(scale, dtype=torch.float32, device=x.device)

    def encode(self, x: Tensor, scale: Tensor) -> Tensor:
        border = torch.where(scale > 0, 1.5 * scale, 1.0)
        ratio = (x.abs().to(torch.float32) / border).clamp_(2.0**-self.octaves, 0.5)
        octave = (ratio.view(torch.int32) >> 23) - (127 - self.octaves)  # the exponent bits: k + 7
        return octave.bitwise_or_((x < 0).to(torch.int32) << 3).to(torch.int8)

    def decode(self, codes: Tensor, scale: Tensor) -> Tensor:
        octaves = torch.arange(1 - self.octaves, 1, dtype=torch.float32, device=codes.device)
        positive = octaves.exp2() * scale
        table = torch.cat([positive, -positive])
        return table.index_select(0, codes.flatten().int()).view(codes.shape)

    def pack(self, codes: Tensor) -> Tensor:
        return pack_nibbles(codes)

    def unpack(self, packed: Tensor, shape: torch.Size) -> Tensor:
        return unpack_nibbles(packed, shape.numel()).view(shape)

    def packed_shape(self, shape: torch.Size) -> tuple[torch.Size, torch.dtype]:
        return torch.Size(((shape.numel() + 1) // 2,)), torch.uint8

    def scale_shape(self, shape: torch.Size) -> torch.Size:
        return torch.Size(())


GRIDS: dict[str, Grid] = {grid.name: grid for grid in (Int8(), Int8Rowwise(), Log4())}


def grid_named(name: str) -> Grid:
    """Return the grid of a name.  Raises InputError with the nearest valid name where there is none."""
    if name not in GRIDS:
        raise InputError(f"no quantization grid '{name}'{nearest(name, GRIDS)}")
    return GRIDS[name]


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


def fake_quantize_activations(x: Tensor, scale: Tensor) -> Tensor:
    """Activations rounded to code / scale with codes −127…127, straight-through also where they are clipped."""
    with torch.no_grad():
        codes = (x.to(torch.float32) * scale).round_().clamp_(-INT8_LIMIT, INT8_LIMIT)
        rounded = codes.div_(scale).to(x.dtype)
    return straight_through(x, rounded)


def _scale_of_maximum(maximum: Tensor) -> Tensor:
    """127 / maximum; 1 where all is zero, whose codes are zero under any scale."""
    maximum = maximum.to(torch.float32)
    limit = torch.full_like(maximum, INT8_LIMIT)  # number / tensor would multiply by a reciprocal
    return limit / torch.where(maximum > 0, maximum, limit)
