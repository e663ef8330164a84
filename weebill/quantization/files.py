"""Quantized models in their folders: the section of `config.json`, and networks ready to load the tensors.

model.safetensors holds for each weight a tensor `NAME.codes` (int8, or uint8 with two 4-bit codes a byte), a shared
weight once.  All other numbers are float32 in one tensor `float32`, in the order of their names: biases,
normalisations, each weight's `NAME.quantized.scale`, and `NAME.activation_scale` of linear maps with quantized
inputs.  Stored one by one, these hundreds of entries would make the file's header 1 % of a small student.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from weebill.errors import InputError, nearest
from weebill.quantization.grids import Grid, grid_named
from weebill.quantization.modules import QuantizedLinear, quantizable_linears, quantize_model
from weebill.quantization.weights import PackedWeight
from weebill.tensor_files import FLOAT, NAMES

_NUMBERS = "float32"  # the tensor of all that is no code
# Endings of the names of codes, in a network and in its file.
_CODES, _STORED = ".quantized.codes", ".codes"
# Keys of the section, with the type of their values and what to call it.
_KEYS = {
    "grid": (str, "a name"),
    "activation_scale": (str | None, "a name or null"),
    "skip": (list, "a list of name patterns"),
}


def section(
    grid: str, activation_scale: str | None = None, skip: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the `quantization` section of config.json; activation_scale: a formula, None for float32 activations."""
    return {"grid": grid_named(grid).name, "activation_scale": activation_scale, "skip": list(skip)}


def apply(model: nn.Module, section: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> nn.Module:
    """Turn a float32 network into packed layers as a section describes, in place, ready to load `tensors`.

    Raises InputError for a section that is not ours or that the model cannot follow, or if `tensors` hold no codes.
    """
    grid = _checked_grid(section)
    if not any(name.endswith(_STORED) for name in tensors):
        raise InputError("quantization: there is one, but the tensors are float32")
    skip, scales = section.get("skip", ()), None
    if section.get("activation_scale") is not None:
        scales = {name: 1.0 for name, _ in quantizable_linears(model, skip)}
    try:
        return quantize_model(model, grid.name, scales, skip, mode="empty")
    except ValueError as error:
        raise InputError(f"quantization.skip: {error}") from error


def _checked_grid(section: Any) -> Grid:
    """Return the grid of a section, as it was read.  Raises InputError if a key or a value is none of ours."""
    if not isinstance(section, Mapping):
        raise InputError(f"quantization: {section!r:.60}, expected keys and values")
    for key, value in section.items():
        if key not in _KEYS:
            raise InputError(f"quantization.{key}: unknown{nearest(key, _KEYS)}")
        kind, name = _KEYS[key]
        wrong = not isinstance(value, kind)
        if wrong or (kind is list and not all(isinstance(one, str) for one in value)):
            raise InputError(f"quantization.{key}: {value!r:.60}, expected {name}")
    return grid_named(section.get("grid", ""))


def stored_type(section: Any) -> Callable[[str], tuple[str, ...]]:
    """Return `expected` of `check_types` for the file that a section describes.  Raises InputError for a bad one."""
    _, kind = _checked_grid(section).packed_shape((2,))
    return lambda name: (NAMES[kind] if name.endswith(_STORED) else FLOAT,)


def merged(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Merge a quantized network's tensors into those that are stored."""
    numbers = _numbers(tensors)
    codes = {name: value for name, value in tensors.items() if name not in numbers}
    stored = {name.replace(_CODES, _STORED): value for name, value in codes.items()}
    return {**stored, _NUMBERS: torch.cat([tensors[name].flatten() for name in numbers])}


def separated(tensors: Mapping[str, Tensor], like: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Undo `merged` for a network with tensors `like` these.  Raises InputError if the numbers are not as many."""
    if _NUMBERS not in tensors:
        raise InputError(f"no tensor {_NUMBERS} beside the codes; make the model again")
    found = {name.replace(_STORED, _CODES): value for name, value in tensors.items()}
    flat = found.pop(_NUMBERS).flatten()
    names = _numbers(like)
    counts = [like[name].numel() for name in names]
    if flat.numel() != sum(counts):
        found = f"{flat.numel():,} float32 numbers beside the codes"
        raise InputError(f"{found}, by config.json there are {sum(counts):,}; make the model again")
    for name, part in zip(names, flat.split(counts), strict=True):
        found[name] = part.view(like[name].shape)
    return found


def check_scales(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Raise InputError naming a scale of a packed model that is not a finite number above 0."""
    for name, module in model.named_modules():
        zero = False
        if isinstance(module, PackedWeight):
            # log4 multiplies by its scale: what is all zero has a scale of 0
            name, zero = f"{name}.scale", not module.grid.integer
        elif isinstance(module, QuantizedLinear) and module.activation_scale is not None:
            name = f"{name}.activation_scale"
        else:
            continue
        scale = tensors[name]
        good = scale.isfinite() & ((scale >= 0) if zero else (scale > 0))
        if not good.all():
            raise InputError(
                f"{name} is {float(scale[~good][0]):g}, expected a number above 0; the model has diverged, or the "
                "file is damaged: make the model again"
            )


def _numbers(tensors: Mapping[str, Tensor]) -> list[str]:
    """Return the names of tensors that are no codes, in the order in which they are stored."""
    return sorted(name for name, value in tensors.items() if value.dtype == torch.float32)
