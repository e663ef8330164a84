"""Weights of 4 bits: every 32 inputs of an output form a group with its own step, w ≈ code·step.

Codes are −8…7.  A group's step is first the one that makes its largest number the code −8, times the factor that
gives the least squared error.  A step has the 8 significant bits of bfloat16, a code half a byte: 4.5 bits a weight.
"""

import torch
from torch import Tensor
from torch.nn import functional

GROUP = 32
LOWEST, HIGHEST = -8, 7
# Factors that are tried for the step; with the last one, the largest number becomes the code 7 or −7.
FACTORS = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 8 / 7)


def quantize(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return codes int8 (outputs, inputs padded to groups) and steps bfloat16 (outputs, groups) of a weight.

    weight: (outputs, inputs).  Raises ValueError if it has NaN or infinity.
    """
    if not bool(weight.isfinite().all()):
        raise ValueError("a tensor with NaN or infinity cannot be quantized")
    weight = weight.detach().float()
    padded = functional.pad(weight, (0, -weight.shape[1] % GROUP)).contiguous()
    groups = padded.view(len(weight), -1, GROUP)
    largest = groups.gather(2, groups.abs().argmax(2, keepdim=True))
    best_step = torch.zeros_like(largest, dtype=torch.bfloat16)
    best_codes = torch.zeros_like(groups, dtype=torch.int8)
    least = groups.square().sum(2, keepdim=True)  # with codes of zero
    for factor in FACTORS:
        step = (largest / LOWEST * factor).bfloat16()
        codes = (groups / step.float()).nan_to_num(0).round_().clamp_(LOWEST, HIGHEST)
        error = (groups - codes * step.float()).square().sum(2, keepdim=True)
        better = error < least
        least = error.where(better, least)
        best_step = step.where(better, best_step)
        best_codes = codes.to(torch.int8).where(better, best_codes)
    return best_codes.view_as(padded), best_step.squeeze(2)


def dequantize(codes: Tensor, steps: Tensor, inputs: int) -> Tensor:
    """Return the weight, float32 (outputs, inputs), of `quantize`'s codes and steps."""
    groups = codes.view(*steps.shape, GROUP).float() * steps.float()[:, :, None]
    return groups.flatten(1)[:, :inputs]


def round_weight(weight: Tensor) -> Tensor:
    """Return a weight (outputs, inputs) rounded to codes·steps, in its own type and without gradient."""
    return dequantize(*quantize(weight), weight.shape[1]).to(weight.dtype)


def pack(codes: Tensor) -> Tensor:
    """Return two codes a byte, uint8 (outputs, half): the first in the lower half, 8 added to each."""
    halves = (codes - LOWEST).to(torch.uint8)
    return halves[:, ::2] | halves[:, 1::2] << 4


def unpack(packed: Tensor) -> Tensor:
    """Undo `pack`."""
    both = torch.stack([packed & 15, packed >> 4], 2)
    return both.flatten(1).to(torch.int8) + LOWEST
