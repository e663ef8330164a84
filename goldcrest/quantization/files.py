"""A quantized model in its folder: what `config.json` says of it, and a network ready to load its tensors.

In model.safetensors lies per weight a tensor `NAME.codes` (int8, or uint8 with two 4-bit codes a byte), a shared
weight once.  All other numbers, float32, lie in one tensor `float32`, in the order of their names: biases,
normalisations, per weight `NAME.quantized.scale`, per linear map with quantized inputs `NAME.activation_scale`.
One by one, each of those hundreds would have its entry in the file's header, 1 % of a small student.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from goldcrest.errors import InputError, nearest
from goldcrest.quantization.grids import grid_named
from goldcrest.quantization.modules import empty_packed_model

_NUMBERS = "float32"  # the tensor of all that is no code
# How names of codes end in a network, and in its file.
_CODES, _STORED = ".quantized.codes", ".codes"
_KEYS = ("grid", "activation_scale", "skip")


def section(
    grid: str, activation_scale: str | None = None, skip: Sequence[str] = ()
) -> dict[str, Any]:
    """The `quantization` section of config.json.

    activation_scale: the formula of the activation scales, None where activations are float32.
    """
    return {
        "grid": grid_named(grid).name,
        "activation_scale": activation_scale,
        "skip": list(skip),
    }


def apply(model: nn.Module, section: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> nn.Module:
    """Turn a float32 network into packed layers as a section describes, in place, ready to load `tensors`.

    Raises InputError for an unknown key or grid, or where `tensors` hold no codes.
    """
    for key in section:
        if key not in _KEYS:
            raise InputError(f"config.json: quantization.{key}: unknown{nearest(key, _KEYS)}")
    grid = grid_named(section.get("grid", ""))
    if not any(name.endswith(_STORED) for name in tensors):
        raise InputError("config.json names a quantization, but the tensors are float32")
    scaled = section.get("activation_scale") is not None
    return empty_packed_model(model, grid, scaled, section.get("skip", ()))


def merged(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A quantized network's tensors by name, as they are stored."""
    numbers = _numbers(tensors)
    flat = [tensors[name].flatten() for name in numbers]
    stored = {
        name.replace(_CODES, _STORED): value
        for name, value in tensors.items()
        if name not in numbers
    }
    return {**stored, _NUMBERS: torch.cat(flat)}


def separated(tensors: Mapping[str, Tensor], like: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The inverse of `merged`, for a network whose tensors have the names and shapes of `like`.

    Raises InputError where there are fewer or more numbers than the network has.
    """
    if _NUMBERS not in tensors:
        return dict(tensors)  # a folder of earlier versions, with one tensor a name
    found = {name.replace(_STORED, _CODES): value for name, value in tensors.items()}
    flat = found.pop(_NUMBERS)
    names = _numbers(like)
    counts = [like[name].numel() for name in names]
    if flat.numel() != sum(counts):
        raise InputError(
            f"{flat.numel():,} float32 numbers beside the codes, by config.json there are "
            f"{sum(counts):,}; make the model again"
        )
    for name, part in zip(names, flat.split(counts), strict=True):
        found[name] = part.view(like[name].shape)
    return found


def _numbers(tensors: Mapping[str, Tensor]) -> list[str]:
    """The names of tensors that are no codes, in the order in which they are stored."""
    return sorted(name for name, value in tensors.items() if value.dtype == torch.float32)
