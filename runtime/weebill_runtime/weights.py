"""Weights of a student as arrays, by their names in the network: float32, or codes on a grid with their scales.

In a file on a grid each weight is a tensor `NAME.codes` (int8, or uint8 with two 4-bit codes a byte), a shared one
once.  All other numbers are float32 in one tensor `float32`, in the order of their names: biases, normalisations,
each weight's `NAME.quantized.scale`, and `NAME.activation_scale` of linear maps with quantized inputs.  Stored one by
one, these hundreds of entries would make the file's header 1 % of a small student.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import prod
from types import NoneType
from typing import Any

import numpy as np

from weebill_runtime.architecture import Architecture
from weebill_runtime.errors import InputError, nearest

Shape = tuple[int, ...]
NUMBERS = "float32"  # the tensor of all numbers that are not codes
CODES, SCALE, ACTIVATION_SCALE, STORED = (
    ".quantized.codes",
    ".quantized.scale",
    ".activation_scale",
    ".codes",
)
INTEGERS = ("int8", "int8_rowwise")  # grids whose codes are multiplied
GRIDS = (*INTEGERS, "log4")  # config.json lists the numbers of any other grid
POWERS = np.exp2(np.arange(-7, 1), dtype=np.float32)
LOG4 = np.concatenate([POWERS, -POWERS])  # numbers of the grid log4, by their codes
HALVES = 16  # a grid of so many numbers stores two codes in a byte; others have up to 256
MOST = float(np.finfo(np.float32).max)
# Keys of the section `quantization` of config.json, with the types of their values and names of these for messages.
KEYS: dict[str, tuple[tuple[type, ...], str]] = {
    "grid": ((str,), "a name"),
    "activation_scale": ((str, NoneType), "a name or null"),
    "skip": ((list,), "a list of name patterns"),
    "numbers": ((list,), "a list of 1 to 256 numbers"),
}


@dataclass(frozen=True)
class Weights:
    """Arrays of a network by name; `grid` names the grid of those that are codes, None if there are none.

    listed: numbers that codes stand for if the scale is 1; None if codes are integers, to be divided by it.
    """

    architecture: Architecture
    tensors: Mapping[str, np.ndarray]
    grid: str | None = None
    listed: np.ndarray | None = None

    @property
    def integer(self) -> bool:
        """True if weights and activations are on an integer grid, so that products run on codes."""
        return f"output{ACTIVATION_SCALE}" in self.tensors

    def activation_scale(self, name: str) -> float | None:
        """Return the scale of a linear map's input; None if it stays float32."""
        found = self.tensors.get(f"{name}{ACTIVATION_SCALE}")
        return None if found is None else float(found)

    def codes(self, name: str) -> tuple[np.ndarray, np.ndarray] | None:
        """Return int8 codes (rows, columns) and scale (1,) or (rows,) of a weight; None if it has no codes."""
        owner = _owner(name)
        if f"{owner}{CODES}" not in self.tensors:
            return None
        codes = self.tensors[f"{owner}{CODES}"]
        if self.grid not in INTEGERS:
            raise ValueError(f"codes of {self.grid} are not multiplied")
        return codes, self.tensors[f"{owner}{SCALE}"].reshape(-1)

    def numbers(self, name: str) -> np.ndarray:
        """Return a module's weight as float32, decoded if it is on a grid."""
        owner = _owner(name)
        if f"{owner}.weight" in self.tensors:
            return self.tensors[f"{owner}.weight"]
        codes, scale = self.tensors[f"{owner}{CODES}"], self.tensors[f"{owner}{SCALE}"]
        if self.listed is None:
            return codes.astype(np.float32) / scale
        shape = shapes(self.architecture)[f"{owner}.weight"]
        if len(self.listed) <= HALVES:
            codes = np.stack([codes & 15, codes >> 4], 1).reshape(-1)[: prod(shape)].reshape(shape)
        return (self.listed * scale)[codes]


def _owner(name: str) -> str:
    return "embedding" if name == "output" else name  # one weight


def linear_maps(architecture: Architecture) -> dict[str, tuple[int, int, bool]]:
    """Return (outputs, inputs, True if it has a bias) of each linear map except the output layer, by name."""
    width, found = architecture.embedding, {}

    def attention(place: str, heads: int, size: int) -> None:
        for name in ("query", "key", "value"):
            found[f"{place}.{name}"] = (heads * size, width, True)
        found[f"{place}.out"] = (width, heads * size, True)

    for side in ("encoder", "decoder"):
        for index, layer in enumerate(getattr(architecture, side)):
            place = f"{side}.{index}"
            if side == "encoder":
                attention(f"{place}.self_attention", layer.heads, layer.head_size)
            else:
                if architecture.decoder_kind == "ssru":
                    found[f"{place}.recurrence.candidate"] = (width, width, False)
                    found[f"{place}.recurrence.forget"] = (width, width, True)
                else:
                    attention(f"{place}.self_attention", layer.self_heads, layer.head_size)
                attention(f"{place}.cross_attention", layer.heads, layer.head_size)
            found[f"{place}.feed_forward.inner"] = (layer.feed_forward, width, True)
            found[f"{place}.feed_forward.outer"] = (width, layer.feed_forward, True)
    return found


def shapes(architecture: Architecture) -> dict[str, Shape]:
    """Return the shape of each float32 tensor of a network by name; tied ones once."""
    width, pieces = architecture.embedding, architecture.vocabulary
    found: dict[str, Shape] = {"embedding.weight": (pieces, width), "output.bias": (pieces,)}
    if architecture.source_vocabulary is not None:
        found["source_embedding.weight"] = (architecture.source_vocabulary, width)
    for name, (outputs, inputs, bias) in linear_maps(architecture).items():
        found[f"{name}.weight"] = (outputs, inputs)
        if bias:
            found[f"{name}.bias"] = (outputs,)
    norms = {
        "encoder": ("attention_norm", "feed_forward_norm"),
        "decoder": ("self_norm", "cross_norm", "feed_forward_norm"),
    }
    for side, names in norms.items():
        for index in range(len(getattr(architecture, side))):
            for name in names:
                found |= {f"{side}.{index}.{name}.{one}": (width,) for one in ("weight", "bias")}
    return found


def checked_grid(section: Any) -> str:
    """Return the grid of a section `quantization`.  Raises InputError if a key or a value is unknown."""
    if not isinstance(section, Mapping):
        raise InputError(f"quantization: {section!r:.60}, expected keys and values")
    for key, value in section.items():
        if key not in KEYS:
            raise InputError(f"quantization.{key}: unknown{nearest(key, KEYS)}")
        kinds, name = KEYS[key]
        wrong = not isinstance(value, kinds)
        if wrong or (key == "skip" and not all(isinstance(one, str) for one in value)):
            raise InputError(f"quantization.{key}: {value!r:.60}, expected {name}")
    grid, listed = section.get("grid", ""), section.get("numbers")
    if grid not in GRIDS and listed is None:
        raise InputError(f"no quantization grid '{grid}'{nearest(grid, GRIDS)}")
    if listed is not None:
        if grid in GRIDS:
            raise InputError(f"quantization.numbers: {grid} has numbers of its own; leave them out")
        finite = all(type(one) in (int, float) and abs(one) < MOST for one in listed)
        if not (0 < len(listed) <= 256 and finite):
            raise InputError(f"quantization.numbers: {listed!r:.60}, expected {KEYS['numbers'][1]}")
    return grid


def listed_numbers(section: Mapping[str, Any]) -> np.ndarray | None:
    """Return the numbers of the codes of a valid section `quantization`, for scale 1; None if codes are integers.

    Codes beyond the listed numbers, which a damaged file may have, stand for 0.
    """
    if section["grid"] in INTEGERS:
        return None
    found = np.float32(section.get("numbers", LOG4))
    return np.pad(found, (0, (HALVES if len(found) <= HALVES else 256) - len(found)))


def quantized_shapes(architecture: Architecture, section: Mapping[str, Any]) -> dict[str, Shape]:
    """Return the shape of each tensor of a network on the grid of a section, by name; codes as they are stored."""
    grid, skip = checked_grid(section), section.get("skip", ())
    listed, found = listed_numbers(section), shapes(architecture)
    halves = listed is not None and len(listed) <= HALVES
    maps = [*linear_maps(architecture), "output"]
    chosen = {
        name
        for name in ("embedding", "source_embedding", *maps)
        if prod(found.get(f"{_owner(name)}.weight", (0,)))
        and not any(fnmatchcase(name, pattern) for pattern in skip)
    }
    if len(chosen & {"embedding", "output"}) == 1:
        (one,), (other,) = chosen & {"embedding", "output"}, {"embedding", "output"} - chosen
        raise InputError(
            f"quantization.skip: {one} shares its weight with {other}, which is left alone; skip both"
        )
    for name in chosen:
        if name != "output":
            shape = found.pop(f"{name}.weight")
            found[f"{name}{CODES}"] = ((prod(shape) + 1) // 2,) if halves else shape
            found[f"{name}{SCALE}"] = (shape[0], 1) if grid == "int8_rowwise" else ()
        if name in maps and section.get("activation_scale") is not None:
            found[f"{name}{ACTIVATION_SCALE}"] = ()
    return found


def separated(
    tensors: Mapping[str, np.ndarray], like: Mapping[str, Shape]
) -> dict[str, np.ndarray]:
    """Return the tensors of a file on a grid by their names in a network with shapes `like`.  Raises InputError."""
    if not any(name.endswith(STORED) for name in tensors):
        raise InputError("there are no codes, the tensors are float32; make the model again")
    if NUMBERS not in tensors:
        raise InputError(f"no tensor {NUMBERS} beside the codes; make the model again")
    found = {name.replace(STORED, CODES): value for name, value in tensors.items()}
    flat, place = found.pop(NUMBERS).reshape(-1), 0
    names = sorted(name for name in like if not name.endswith(CODES))
    count = sum(prod(like[name]) for name in names)
    if flat.size != count:
        raise InputError(
            f"{flat.size:,} float32 numbers beside the codes, by config.json there are {count:,}; make the model "
            "again"
        )
    for name in names:
        size = prod(like[name])
        found[name], place = flat[place : place + size].reshape(like[name]), place + size
    return found


def check_tensors(
    tensors: Mapping[str, np.ndarray], like: Mapping[str, Shape], grid: str | None
) -> None:
    """Raise InputError for a missing, unknown, misshapen or infinite tensor, and for an invalid scale."""
    missing = [name for name in like if name not in tensors]
    unexpected = [name for name in tensors if name not in like]
    if missing or unexpected:
        raise InputError(
            f"tensors missing {_first(missing)}, not expected {_first(unexpected)}; make the model again"
        )
    for name, found in tensors.items():
        if found.shape != like[name]:
            raise InputError(
                f"{name} is {found.shape}, by the architecture {like[name]}; make the model again"
            )
    # NaN or infinity would give empty translations without an error.  The extremes are NaN if any number is.
    wrong = [
        name
        for name, one in tensors.items()
        if one.dtype.kind == "f" and one.size and not np.isfinite([one.min(), one.max()]).all()
    ]
    for name, scale in _bad_scales(tensors, grid):
        raise InputError(
            f"{name} is {scale:g}, expected a number above 0; the model has diverged, or the file is damaged: make "
            "the model again"
        )
    if wrong:
        raise InputError(
            f"NaN or infinity in {_first(wrong)}; the model has diverged, or the file is damaged: train it again, or "
            "restore the file"
        )


def _bad_scales(tensors: Mapping[str, np.ndarray], grid: str | None) -> Iterator[tuple[str, float]]:
    for name, scale in tensors.items():
        if name.endswith((SCALE, ACTIVATION_SCALE)):
            # Listed numbers are multiplied by the scale: a tensor of zeros has a scale of 0.
            zero = name.endswith(SCALE) and grid not in INTEGERS
            good = np.isfinite(scale) & ((scale >= 0) if zero else (scale > 0))
            if not good.all():
                yield name, float(scale[~good][0])


def _first(names: list[str], most: int = 3) -> str:
    """List some of possibly hundreds of names, for an error."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{names[:most]}{more}"
