"""4-bit codes, two to a byte."""

import torch
from torch import Tensor


def pack_nibbles(codes: Tensor) -> Tensor:
    """Pack codes 0…15 of any shape → uint8 (⌈n / 2⌉,): the first of each pair in the low half of its byte.

    The last high half is zero where n is odd.  Raises ValueError where a code does not fit into 4 bits.
    """
    flat = codes.flatten()
    if bool(((flat < 0) | (flat > 15)).any()):
        raise ValueError(f"codes {int(flat.min())}…{int(flat.max())} do not fit into 4 bits")
    flat = flat.to(torch.uint8)
    if flat.numel() % 2:
        flat = torch.cat([flat, flat.new_zeros(1)])
    low, high = flat.view(-1, 2).unbind(1)
    return low | (high << 4)


def unpack_nibbles(packed: Tensor, count: int) -> Tensor:
    """Unpack uint8 (⌈count / 2⌉,) → int8 (count,), the inverse of `pack_nibbles`.

    Raises ValueError where the number of bytes is not that of `count` codes.
    """
    if packed.numel() != (count + 1) // 2:
        raise ValueError(f"{packed.numel()} bytes cannot hold {count} codes of 4 bits")
    pairs = torch.stack([packed & 15, packed >> 4], dim=1)
    return pairs.flatten()[:count].to(torch.int8)
