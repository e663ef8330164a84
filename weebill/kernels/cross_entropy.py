"""Cross-entropy of rows of scores on a GPU: one Triton kernel that overwrites the scores with the gradient.

PyTorch's operations take a dozen passes over the scores, in float32.  The kernel reads a row twice and writes it
once, in the type of the scores; its sums are float32.  Shapes: n rows, V pieces.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

COLUMNS = 4096  # pieces of a row that a program holds at a time


@triton.jit
def _row(
    scores,
    labels,
    factors,
    losses,
    pieces,
    stride,
    smoothing,
    GRADIENT: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    start = scores + row * stride
    label = tl.load(labels + row)
    factor = tl.load(factors + row)
    column = tl.arange(0, COLUMNS)
    chosen = tl.load(start + label).to(tl.float32)
    largest, norm, total = -float("inf"), 0.0, 0.0
    for first in range(0, pieces, COLUMNS):
        inside = first + column < pieces
        score = tl.load(start + first + column, mask=inside, other=-float("inf")).to(tl.float32)
        now = tl.maximum(largest, tl.max(score, 0))
        norm = norm * tl.exp(largest - now) + tl.sum(tl.exp(score - now), 0)
        total += tl.sum(tl.where(inside, score, 0.0), 0)
        largest = now
    plain = (1 - smoothing) * chosen + smoothing * total / pieces
    tl.store(losses + row, factor * (tl.log(norm) + largest - plain))
    if GRADIENT:
        for first in range(0, pieces, COLUMNS):
            inside = first + column < pieces
            score = tl.load(start + first + column, mask=inside, other=0.0).to(tl.float32)
            wanted = tl.where(first + column == label, 1 - smoothing, 0.0) + smoothing / pieces
            gradient = factor * (tl.exp(score - largest) / norm - wanted)
            tl.store(start + first + column, gradient, mask=inside)


def row_losses(
    scores: Tensor, labels: Tensor, factor: Tensor, smoothing: float, gradient: bool
) -> tuple[Tensor, Tensor | None]:
    """Return factor · cross-entropy of softmax(scores) and labels, (n,) float32; the gradient overwrites the scores.

    scores (n, V), rows without gaps, of any floating type.  labels (n,) int64.  factor (n,) float32.  Label smoothing
    gives 1 − ε to the label and ε / V to every piece.  gradient: False keeps the scores, and returns None for it.
    """
    losses = torch.empty(len(scores), dtype=torch.float32, device=scores.device)
    pieces = scores.shape[1]
    if len(scores):
        columns = min(COLUMNS, triton.next_power_of_2(pieces))
        with torch.cuda.device_of(scores):  # Triton would use the current device
            _row[(len(scores),)](
                scores, labels.contiguous(), factor.contiguous(), losses, pieces, scores.stride(0),
                float(smoothing), gradient, columns, num_warps=8,
            )  # fmt: skip
    return losses, scores if gradient else None
