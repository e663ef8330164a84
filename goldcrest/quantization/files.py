"""A quantized model in its folder: what `config.json` says of it, and a network ready to load its tensors.

The tensors lie in model.safetensors under the names of the network's state: per weight
`NAME.quantized.codes` (int8, or uint8 with two 4-bit codes a byte) and `NAME.quantized.scale`, per linear
map with quantized inputs `NAME.activation_scale`; biases and normalisations as in float32.  A shared weight
lies there once.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from goldcrest.errors import InputError, nearest
from goldcrest.quantization.grids import grid_named
from goldcrest.quantization.modules import empty_packed_model

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
    if not any(name.endswith(".quantized.codes") for name in tensors):
        raise InputError("config.json names a quantization, but the tensors are float32")
    scaled = section.get("activation_scale") is not None
    return empty_packed_model(model, grid, scaled, section.get("skip", ()))
