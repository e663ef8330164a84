"""Self-attention of sentences whose pieces are concatenated, by the fastest way of a device.

Processors, and GPUs in float32, attend in all sentences of one length together.  GPUs attend in bfloat16 in all
sentences of a batch at once.  Never cuDNN's attention: it prepares each new shape for 40 ms.
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

# Attends by queries, keys and values (b, heads, length, size) each → (b, heads, length, size).
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]
# Attends by them (n, heads, size) each, with places (sentences + 1,) of the sentences and the longest length.
AttendPacked = Callable[[Tensor, Tensor, Tensor, Tensor, int], Tensor]

LARGEST_HEAD = 256  # of the packed attention, whose heads have a size that is a multiple of 8
AMPERE = (8, 0)  # oldest GPUs with the packed attention


class Attention(NamedTuple):
    """Way to attend.

    scale: factor of the queries before.  attend: queries, keys, values (n, 3, heads, size) → (n, heads · size).
    """

    scale: float
    attend: Callable[[Tensor, Lengths], Tensor]


def attention(dtype: torch.dtype, device: torch.device, size: int) -> Attention:
    """Return the fastest way for products of a type on a device, by heads of a size."""
    if packs(dtype, device, size):
        return Attention(1, partial(attend_packed, by=flash))
    return Attention(size**-0.5, partial(attend_by_length, by=_way(dtype, device)))


def packs(dtype: torch.dtype, device: torch.device, size: int) -> bool:
    """Return True if the device attends in all sentences of a batch at once."""
    fits = dtype in (torch.bfloat16, torch.float16) and not size % 8 and size <= LARGEST_HEAD
    if device.type != "cuda" or not fits or find_spec("torch.nn.attention.varlen") is None:
        return False  # PyTorch before 2.10 has no packed attention
    return torch.cuda.get_device_capability(device) >= AMPERE


def attend_by_length(qkv: Tensor, lengths: Lengths, by: Attend) -> Tensor:
    """Attend in the sentences of one length together; queries are scaled."""
    found = []
    for group in lengths.split(qkv):  # (b, length, 3, heads, size)
        q, k, v = group.permute(2, 0, 3, 1, 4)
        found.append(by(q, k, v).transpose(1, 2).flatten(2).flatten(0, 1))
    return torch.cat(found).to(qkv.dtype)


def attend_packed(qkv: Tensor, lengths: Segments, by: AttendPacked) -> Tensor:
    """Attend in all sentences at once; queries are not scaled."""
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
    """Attend in bfloat16 by plain products, on processors twice as fast as the library's fused kernel."""
    shares = torch.softmax(q @ k.transpose(-1, -2), -1, dtype=torch.float32)
    return shares.to(v.dtype) @ v


def _widened(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attend with bfloat16 numbers in float32, for processors that cannot multiply bfloat16."""
    return _fused(q.float(), k.float(), v.float())
