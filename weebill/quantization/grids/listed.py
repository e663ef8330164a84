"""Grids whose numbers are listed: any 16 numbers in 4 bits, or any 256 in 8, times a scale."""

from math import prod
from typing import TYPE_CHECKING

from weebill.quantization.grids import Grid
from weebill_runtime.weights import HALVES

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class ListedGrid(Grid):
    """At most 256 numbers with one scale per tensor; a number goes to the nearest of them.

    Codes are places in the list, from 128 on as negative int8.  A model's config.json has the list, so that the
    runtime, which has no list of grids but its own, decodes any of them.
    """

    integer = False
    numbers: tuple[float, ...]
    """Numbers for the scale 1, in any order."""

    def fit(self, x: "Tensor") -> "Tensor":
        """Fit the largest magnitude of the grid to that of the tensor."""
        return x.detach().abs().amax().float() / max(map(abs, self.numbers))

    def encode(self, x: "Tensor", scale: "Tensor") -> "Tensor":
        import torch

        numbers, codes = torch.tensor(self.numbers).to(x.device).sort(stable=True)
        borders = (numbers[1:] + numbers[:-1]) / 2
        ratio = x.contiguous().float() / torch.where(scale > 0, scale, 1.0)
        return codes[torch.bucketize(ratio, borders)].to(torch.uint8).view(torch.int8)

    def decode(self, codes: "Tensor", scale: "Tensor") -> "Tensor":
        import torch

        table = torch.tensor(self.numbers).to(codes.device) * scale
        return table.index_select(0, codes.flatten().int() & 255).view(codes.shape)

    def pack(self, codes: "Tensor") -> "Tensor":
        """Pack codes → uint8: one a byte, or (⌈n / 2⌉,), the first of a pair in the low half.

        Raises ValueError for codes beyond the list.
        """
        from torch.nn.functional import pad

        stored = (codes.int() & 255).byte()
        if codes.numel() and int(stored.max()) >= len(self.numbers):
            raise ValueError(
                f"code {int(stored.max())}, but {self.name} has {len(self.numbers)} numbers"
            )
        if len(self.numbers) > HALVES:
            return stored
        flat = stored.flatten()
        low, high = pad(flat, (0, len(flat) % 2)).view(-1, 2).unbind(1)
        return low | (high << 4)

    def unpack(self, packed: "Tensor", shape: tuple[int, ...]) -> "Tensor":
        """Undo `pack`.  Raises ValueError if the number of bytes is not that of the codes."""
        import torch

        if packed.numel() != prod(self.packed_shape(shape)[0]):
            raise ValueError(
                f"{packed.numel()} bytes cannot hold {prod(shape)} codes of {self.name}"
            )
        if len(self.numbers) > HALVES:
            return packed.view(torch.int8).view(shape)
        pairs = (packed[:, None] >> packed.new_tensor([0, 4])) & 15
        return pairs.flatten()[: prod(shape)].char().view(shape)

    def packed_shape(self, shape: tuple[int, ...]) -> "tuple[tuple[int, ...], torch.dtype]":
        import torch

        halves = len(self.numbers) <= HALVES
        return ((prod(shape) + 1) // 2,) if halves else tuple(shape), torch.uint8
