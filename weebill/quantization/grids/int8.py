"""The grid `int8`: 8-bit integers with one scale a tensor; activations are rounded to it too."""

import torch
from torch import Tensor

from weebill.quantization.grid import Grid, straight_through

INT8_LIMIT = 127  # symmetric: −128 is not used (WNGT20 §5.1)


class Int8(Grid):
    """Integers −127…127 over a scale of 127 / max|x| for the whole tensor (WNGT20 §5.1): x ≈ code / scale."""

    name = "int8"
    bits = 8
    integer = True

    def fit(self, x: Tensor) -> Tensor:
        return scale_of_maximum(x.detach().abs().amax())

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


def fake_quantize_activations(x: Tensor, scale: Tensor) -> Tensor:
    """Activations rounded to code / scale with codes −127…127, straight-through also where they are clipped."""
    with torch.no_grad():
        codes = (x.to(torch.float32) * scale).round_().clamp_(-INT8_LIMIT, INT8_LIMIT)
        rounded = codes.div_(scale).to(x.dtype)
    return straight_through(x, rounded)


def scale_of_maximum(maximum: Tensor) -> Tensor:
    """127 / maximum; 1 where all is zero, whose codes are zero under any scale."""
    maximum = maximum.to(torch.float32)
    limit = torch.full_like(maximum, INT8_LIMIT)  # number / tensor would multiply by a reciprocal
    return limit / torch.where(maximum > 0, maximum, limit)
