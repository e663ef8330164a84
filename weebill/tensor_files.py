"""Types of tensors in safetensors files: a type other than the format's is refused, not converted.

Converted weights would silently give garbage: int64 cuts off every fraction, bool leaves 0 and 1.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from safetensors import safe_open

from weebill.errors import InputError

# Types by safetensors' names.
FLOAT = "F32"
FLOATS = ("F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2")
COMPLEX = ("C64", "C128")
NAMES = {torch.float32: FLOAT, torch.int8: "I8", torch.uint8: "U8", torch.int64: "I64"}


def stored_types(path: str | Path) -> dict[str, str]:
    """Read the type of each tensor of a file, by name, from the header only."""
    with safe_open(path, "numpy") as file:
        return {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118


def check_types(path: str | Path, expected: Callable[[str], tuple[str, ...]]) -> None:
    """Raise InputError if a tensor is not of the types that `expected` gives for its name, if it gives any."""
    for name, kind in stored_types(path).items():
        wanted = expected(name)
        if wanted and kind not in wanted:
            raise InputError(
                f"{path}: tensor {name} is {kind}, expected {' or '.join(wanted)}; make it again or restore the file"
            )


def types_of(tensors: Mapping[str, torch.Tensor]) -> Callable[[str], tuple[str, ...]]:
    """Return `expected` of `check_types` for a network with these tensors by name."""
    return lambda name: (NAMES[tensors[name].dtype],) if name in tensors else ()
