"""Scale of the logarithmic grid on a GPU: one Triton kernel iterates to the end without asking the host.

A loop in PyTorch would wait for the GPU at each of up to some hundred iterations, for each weight and update.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

BORDERS = 7  # between the 8 magnitudes of the grid; the kernel has 8 lanes


@triton.jit
def _fit(magnitudes, prefix, powers, scale, count, LANES: tl.constexpr):
    lane = tl.arange(0, LANES)
    inside = lane < LANES - 1
    power = tl.load(powers + lane, mask=inside, other=0.0)  # a: 2^-7 … 2^-1
    rise, step = power, 3 * power * power  # of a and of a² to the next magnitude of the grid
    total = tl.load(prefix + count)
    found = tl.load(magnitudes + count - 1).to(tl.float64)
    before = tl.full((LANES,), -1, tl.int64)
    going = found > 0
    while going:
        border = (found * 1.5 * power).to(tl.float32)
        # The number of magnitudes below each border, by bisection.
        low = tl.full((LANES,), 0, tl.int64)
        high = low + count
        searching = tl.max((high - low) * inside, 0) > 0
        while searching:
            middle = (low + high) // 2
            open_ = inside & (low < high)
            below = open_ & (tl.load(magnitudes + middle, mask=open_, other=0.0) < border)
            low = tl.where(below, middle + 1, low)
            high = tl.where(open_ & (below == 0), middle, high)
            searching = tl.max((high - low) * inside, 0) > 0
        going = tl.max((low != before).to(tl.int32) * inside, 0) > 0
        sums = tl.load(prefix + low, mask=inside, other=0.0)
        numerator = total - tl.sum(rise * sums, 0)
        denominator = count - tl.sum(step * low.to(tl.float64), 0)
        found = tl.where(going, numerator / denominator, found)
        before = low
    tl.store(scale, found.to(tl.float32))


def log4_scale(x: Tensor) -> Tensor:
    """Return S of `Log4.fit`, () float32 on x's device; the host does not wait."""
    magnitudes = x.detach().abs().flatten().float().sort().values
    prefix = torch.zeros(len(magnitudes) + 1, dtype=torch.float64, device=x.device)
    torch.cumsum(magnitudes, 0, dtype=torch.float64, out=prefix[1:])
    powers = torch.arange(-BORDERS, 0, dtype=torch.float64, device=x.device).exp2()
    scale = torch.empty((), dtype=torch.float32, device=x.device)
    _fit[(1,)](magnitudes, prefix, powers, scale, len(magnitudes), LANES=BORDERS + 1, num_warps=1)
    return scale
