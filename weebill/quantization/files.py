"""Quantized models in their folders, as `weebill_runtime.weights` reads them: section of config.json, and tensors."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from weebill.quantization.grids import grid_named
from weebill.quantization.grids.listed import ListedGrid
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill_runtime.weights import CODES, GRIDS, NUMBERS, STORED


def section(
    grid: str, activation_scale: str | None = None, skip: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the `quantization` section of config.json; activation_scale: a formula, None for float32 activations."""
    made = {"grid": grid, "activation_scale": activation_scale, "skip": list(skip)}
    one = grid_named(grid)
    if isinstance(one, ListedGrid) and grid not in GRIDS:  # the runtime needs the list
        made["numbers"] = list(one.numbers)
    return made


def apply(model: nn.Module, section: Mapping[str, Any]) -> nn.Module:
    """Turn a float32 network into packed layers as a valid section describes, in place, ready to load tensors."""
    skip, scales = section.get("skip", ()), None
    if section.get("activation_scale") is not None:
        scales = {name: 1.0 for name, _ in quantizable_linears(model, skip)}
    return quantize_model(model, section["grid"], scales, skip, mode="empty")


def merged(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors that a folder stores of a quantized network: codes, and one of all float32 numbers."""
    numbers = _numbers(tensors)
    codes = {name: value for name, value in tensors.items() if name not in numbers}
    stored = {name.replace(CODES, STORED): value for name, value in codes.items()}
    return {**stored, NUMBERS: torch.cat([tensors[name].flatten() for name in numbers])}


def _numbers(tensors: Mapping[str, Tensor]) -> list[str]:
    """Return the names of the float32 tensors, in the order in which they are stored."""
    return sorted(name for name, value in tensors.items() if value.dtype == torch.float32)
