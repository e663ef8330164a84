"""Self-attention of concatenated sentences, in the fastest way for each device.

CPUs, and GPUs in float32, process all sentences of one length together.  GPUs in bfloat16 process all sentences of
a batch at once.  cuDNN's attention is never used: it takes 40 ms to prepare each new shape.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from weebill.kernels.cpu_matmul import multiplies_bfloat16
from weebill.metric.lengths import Lengths, Segments

# Function of queries, keys and values, (b, heads, length, size) each → (b, heads, length, size).
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]
# The same for (n, heads, size) each, with the offsets (sentences + 1,) of sentences and the longest length.
AttendPacked = Callable[[Tensor, Tensor, Tensor, Tensor, int], Tensor]

LARGEST_HEAD = 256  # largest size of a head in packed attention, which needs a multiple of 8
AMPERE = (8, 0)  # oldest GPUs with the packed attention


class Attention(NamedTuple):
    """Way to attend.

    scale: factor to apply to queries first.  attend: queries, keys, values (n, 3, heads, size) → (n, heads · size).
    """

    scale: float
    attend: Callable[[Tensor, Lengths], Tensor]


def attention(dtype: torch.dtype, device: torch.device, size: int) -> Attention:
    """Return the fastest way to attend for a type of numbers, a device and a head size."""
    if packs(dtype, device, size):
        return Attention(1, partial(attend_packed, by=flash))
    return Attention(size**-0.5, partial(attend_by_length, by=_way(dtype, device)))


def packs(dtype: torch.dtype, device: torch.device, size: int) -> bool:
    """Return True if the device can process all sentences of a batch at once."""
    fits = dtype in (torch.bfloat16, torch.float16) and not size % 8 and size <= LARGEST_HEAD
    if device.type != "cuda" or not fits or find_spec("torch.nn.attention.varlen") is None:
        return False  # PyTorch before 2.10 has no packed attention
    return torch.cuda.get_device_capability(device) >= AMPERE


def attend_by_length(qkv: Tensor, lengths: Lengths, by: Attend) -> Tensor:
    """Attend within sentences, all of one length together; queries must be scaled."""
    found = []
    for group in lengths.split(qkv):  # (b, length, 3, heads, size)
        q, k, v = group.permute(2, 0, 3, 1, 4)
        found.append(by(q, k, v).transpose(1, 2).flatten(2).flatten(0, 1))
    return torch.cat(found).to(qkv.dtype)


def attend_packed(qkv: Tensor, lengths: Segments, by: AttendPacked) -> Tensor:
    """Attend within all sentences at once; queries must not be scaled."""
    return by(*qkv.unbind(1), lengths.offsets, lengths.longest).flatten(1)


def flash(q: Tensor, k: Tensor, v: Tensor, offsets: Tensor, longest: int) -> Tensor:
    """Attend by FlashAttention, which scales by 1 / √size."""
    from torch.nn.attention.varlen import varlen_attn

    return varlen_attn(q, k, v, offsets, offsets, longest, longest)


def _way(dtype: torch.dtype, device: torch.device) -> Attend:
    if dtype != torch.bfloat16 or device.type != "cpu":
        return _fused
    return _rounded if multiplies_bfloat16() else _widened


_fused = partial(functional.scaled_dot_product_attention, scale=1.0)


def _rounded(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attend in bfloat16 by plain products; on CPUs, this is twice as fast as the library's fused kernel."""
    shares = torch.softmax(q @ k.transpose(-1, -2), -1, dtype=torch.float32)
    return shares.to(v.dtype) @ v


def _widened(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attend with bfloat16 numbers in float32, for processors that cannot multiply bfloat16."""
    return _fused(q.float(), k.float(), v.float())
