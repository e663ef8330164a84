"""Sum of two states and its layer normalisation on a GPU, by one Triton kernel.

PyTorch takes five passes over the numbers: a conversion to float32, the sum, the normalisation, and a conversion for
the next product.  The kernel reads each number once.  Shapes: n rows, d width.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _add_norm(
    updates, states, weight, bias, normed, rounded, width, epsilon, COLUMNS: tl.constexpr
):
    column = tl.arange(0, COLUMNS)
    inside = column < width
    place = tl.program_id(0).to(tl.int64) * width + column
    x = tl.load(updates + place, mask=inside, other=0.0).to(tl.float32)
    x += tl.load(states + place, mask=inside, other=0.0)
    centred = tl.where(inside, x - tl.sum(x, 0) / width, 0.0)
    deviation = tl.sqrt(tl.sum(centred * centred, 0) / width + epsilon)
    scale = tl.load(weight + column, mask=inside, other=0.0)
    y = centred / deviation * scale + tl.load(bias + column, mask=inside, other=0.0)
    tl.store(normed + place, y, mask=inside)
    tl.store(rounded + place, y, mask=inside)


def add_norm(
    updates: Tensor, states: Tensor, weight: Tensor, bias: Tensor, epsilon: float
) -> tuple[Tensor, Tensor]:
    """Return layer_norm(states + updates) in float32, and rounded to the type of the updates; (n, d) each.

    updates (n, d): of any floating type.  states (n, d), weight (d,), bias (d,): float32.  Sums are float32.
    """
    updates, states = updates.contiguous(), states.contiguous()
    normed, rounded = torch.empty_like(states), torch.empty_like(updates)
    count, width = states.shape
    if states.numel():
        columns = triton.next_power_of_2(width)
        with torch.cuda.device_of(states):  # Triton would use the current device
            _add_norm[(count,)](
                updates, states, weight, bias, normed, rounded, width, float(epsilon), columns,
                num_warps=4 if columns <= 2048 else 8,
            )  # fmt: skip
    return normed, rounded
