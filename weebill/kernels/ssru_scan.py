"""Recurrence of SSRU layers on a GPU: one Triton kernel forward and one backward.

A loop over positions in PyTorch launches a kernel per position and layer, twice; the GPU then waits for the host.
Shapes: b sentences, t positions, d width.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

COLUMNS = 64  # of one program, which follows them through all positions of a sentence


@triton.jit
def _forward(logits, candidates, cells, outputs, positions, width, COLUMNS: tl.constexpr):
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < width
    place = tl.program_id(0).to(tl.int64) * positions * width + column
    cell = tl.full((COLUMNS,), 0.0, tl.float32)
    logit = tl.load(logits + place, mask=inside, other=0.0).to(tl.float32)
    candidate = tl.load(candidates + place, mask=inside, other=0.0).to(tl.float32)
    for position in range(positions):
        # Load the next position's numbers while this one's are used.
        more = column < tl.where(position + 1 < positions, width, 0)
        next_logit = tl.load(logits + place + width, mask=more, other=0.0)
        next_candidate = tl.load(candidates + place + width, mask=more, other=0.0)
        forget = 1 / (1 + tl.exp(-logit))
        cell = forget * cell + (1 - forget) * candidate
        tl.store(cells + place, cell, mask=inside)
        tl.store(outputs + place, tl.maximum(cell, 0.0), mask=inside)
        logit, candidate = next_logit.to(tl.float32), next_candidate.to(tl.float32)
        place += width


@triton.jit
def _backward(
    logits,
    candidates,
    cells,
    grads,
    grad_logits,
    grad_candidates,
    positions,
    width,
    COLUMNS: tl.constexpr,
):
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < width
    place = (tl.program_id(0).to(tl.int64) + 1) * positions * width - width + column  # the last
    carried = tl.full((COLUMNS,), 0.0, tl.float32)  # gradient of a cell from its successor
    cell = tl.load(cells + place, mask=inside, other=0.0).to(tl.float32)
    for step in range(positions):
        logit = tl.load(logits + place, mask=inside, other=0.0).to(tl.float32)
        candidate = tl.load(candidates + place, mask=inside, other=0.0).to(tl.float32)
        grad = tl.load(grads + place, mask=inside, other=0.0).to(tl.float32)
        # The cell before the first position is zero.
        earlier = column < tl.where(step + 1 < positions, width, 0)
        previous = tl.load(cells + place - width, mask=earlier, other=0.0).to(tl.float32)
        grad = tl.where(cell > 0, grad, 0.0) + carried
        forget = 1 / (1 + tl.exp(-logit))
        tl.store(grad_candidates + place, grad * (1 - forget), mask=inside)
        grad_logit = grad * (previous - candidate) * forget * (1 - forget)
        tl.store(grad_logits + place, grad_logit, mask=inside)
        carried = grad * forget
        cell = previous
        place -= width


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits: Tensor, candidates: Tensor) -> Tensor:
        logits, candidates = logits.contiguous(), candidates.contiguous()
        cells, outputs = torch.empty_like(candidates), torch.empty_like(candidates)
        _launch(_forward, logits, candidates, cells, outputs)
        ctx.save_for_backward(logits, candidates, cells)
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor]:
        logits, candidates, cells = ctx.saved_tensors
        grads = torch.empty_like(logits), torch.empty_like(candidates)
        _launch(_backward, logits, candidates, cells, grad.contiguous(), *grads)
        return grads


def _launch(kernel, *tensors: Tensor) -> None:
    sentences, positions, width = tensors[0].shape
    if tensors[0].numel():
        grid = (sentences, triton.cdiv(width, COLUMNS))
        with torch.cuda.device_of(tensors[0]):  # Triton would use the current device
            kernel[grid](*tensors, positions, width, COLUMNS, num_warps=2)


def ssru_scan(logits: Tensor, candidates: Tensor) -> Tensor:
    """Return the outputs h_t = ReLU(c_t) of an SSRU, where c_t = f_t ⊙ c_{t−1} + (1 − f_t) ⊙ x̂_t and c_0 = 0.

    logits (b, t, d): the forget gates before their sigmoid.  candidates (b, t, d): x̂, with the type of the outputs.
    The recurrence runs in float32.
    """
    return _Scan.apply(logits, candidates)
