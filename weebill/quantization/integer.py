"""Products of 8-bit integer matrices, exact in 32 bits."""

from functools import cache

import torch
from torch import Tensor

EXACT_COLUMNS = (2**24 - 1) // 127**2  # 1040: float32 sums this many products exactly
LARGEST_COLUMNS = (2**31 - 1) // 127**2  # 133,144: int32 sums this many products exactly


def integer_product(a: Tensor, b: Tensor, n: int | None = None) -> Tensor:
    """Multiply a (m, k) by b (n, k) transposed, codes −127…127 → int32, exactly; ValueError if k is too large.

    n: number of rows of b that count, if `in_eights` has padded it.
    """
    if (size := a.shape[1]) > LARGEST_COLUMNS:
        raise ValueError(f"an inner size of {size} can overflow 32 bits ({LARGEST_COLUMNS} cannot)")
    if not (a.numel() and b.numel()):
        return torch.zeros(a.shape[0], b.shape[0], dtype=torch.int32, device=a.device)
    # with an inner size of 1 the CPU's kernel gives other products from run to run
    if a.device.type == "cpu" and a.shape[1] > 1 and _kernel_is_exact():
        return torch._int_mm(a, b.t())
    if a.device.type == "cuda":
        # The kernel needs more than 16 rows and sizes in eights: pad with zeros, and cut the result.
        rows, n, b = len(a), n or len(b), in_eights(b)
        missing = (0, b.shape[1] - a.shape[1], 0, max(0, 17 - rows))
        a = torch.nn.functional.pad(a, missing) if any(missing) else a
        return torch._int_mm(a, b.t())[:rows, :n]
    total = torch.zeros(len(a), len(b), dtype=torch.int32, device=a.device)
    for start in range(0, a.shape[1], EXACT_COLUMNS):
        block = slice(start, start + EXACT_COLUMNS)  # short enough for exact float32 sums
        total += (a[:, block].float() @ b[:, block].float().t()).to(torch.int32)
    return total


def in_eights(b: Tensor) -> Tensor:
    """Return b (n, k) with both sizes padded by zeros to multiples of 8; b itself if they are."""
    missing = (0, -b.shape[1] % 8, 0, -b.shape[0] % 8)
    return torch.nn.functional.pad(b, missing) if any(missing) else b


@cache
def _kernel_is_exact() -> bool:
    """Return True if the CPU's kernel keeps all bits: without VNNI it may saturate pairs at 16 bits."""
    if not hasattr(torch, "_int_mm"):
        return False
    signs = torch.tensor([[1, 1], [1, -1], [-1, -1]], dtype=torch.int8)
    a = (127 * signs).repeat(11, 32)  # (33, 64)
    b = (127 * signs.flip(0)).repeat(11, 32)
    return torch.equal(torch._int_mm(a, b.t()).long(), a.long() @ b.long().t())
