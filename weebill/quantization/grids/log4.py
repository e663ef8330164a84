"""The grid `log4`: four bits on a logarithmic scale."""

import numpy as np
import torch
from torch import Tensor

from weebill.quantization.grid import Grid
from weebill.quantization.packing import pack_nibbles, unpack_nibbles


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
