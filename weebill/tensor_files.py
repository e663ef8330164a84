"""Types of tensors in safetensors files; an unexpected type is refused, not converted.

Converted weights would silently become garbage: int64 cuts off fractions, bool keeps only 0 and 1.
"""

import json
import mmap
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError, safe_open

from weebill.errors import InputError
from weebill.files import check_plain

# Types by safetensors' names.
FLOAT = "F32"
FLOATS = ("F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2")
COMPLEX = ("C64", "C128")
NAMES = {torch.float32: FLOAT, torch.int8: "I8", torch.uint8: "U8", torch.int64: "I64"}
HALVES = {torch.float16: "F16", torch.bfloat16: "BF16"}


def stored_types(path: str | Path) -> dict[str, str]:
    """Read the type of each tensor of a file, by name, from the header only.  Raises InputError if it is damaged."""
    check_plain(path)
    try:
        with safe_open(path, "numpy") as file:
            return {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise InputError(
            f"{path}: no safetensors, damaged, or a pointer to them ({error}); fetch or make the model again"
        ) from error


def check_types(path: str | Path, expected: Callable[[str], tuple[str, ...]]) -> None:
    """Raise InputError if a tensor's type is not one of those that `expected` returns for its name, if any."""
    for name, kind in stored_types(path).items():
        wanted = expected(name)
        if wanted and kind not in wanted:
            raise InputError(
                f"{path}: tensor {name} is {kind}, expected {' or '.join(wanted)}; make it again or restore the file"
            )


def types_of(tensors: Mapping[str, torch.Tensor]) -> Callable[[str], tuple[str, ...]]:
    """Return the argument `expected` of `check_types` for a network with these tensors, by name."""
    return lambda name: (NAMES[tensors[name].dtype],) if name in tensors else ()


def mapped_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a safetensors file, which stay in the file and must not be changed.

    safetensors' own mapping is writable, which the system refuses for files larger than its memory.
    """
    kinds = stored_types(path)  # checks the header
    types = {name: dtype for dtype, name in {**NAMES, **HALVES}.items()}
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    found = {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given buffer is not writable")
        for name, kind in kinds.items():
            shape, begin = header[name]["shape"], header[name]["data_offsets"][0]
            count, dtype = torch.Size(shape).numel(), types[kind]
            where = {"dtype": dtype, "count": count, "offset": 8 + size + begin}
            empty = torch.empty(shape, dtype=dtype)
            found[name] = torch.frombuffer(content, **where).view(shape) if count else empty
    return found


class Entry(NamedTuple):
    """Tensor of a file; `make` computes it when it is written."""

    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    make: Callable[[], torch.Tensor]


def write_tensors(path: Path, tensors: Iterable[Entry]) -> None:
    """Write a safetensors file, with only one tensor at a time in memory."""
    # Wider types come first, so that every tensor begins at a multiple of its numbers' bytes.
    ordered = sorted(tensors, key=lambda one: (-one.dtype.itemsize, one.name))
    header, begin = {}, 0
    for name, dtype, shape, _ in ordered:
        end = begin + dtype.itemsize * torch.Size(shape).numel()
        header[name] = {"dtype": NAMES[dtype], "shape": shape, "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for *_, make in ordered:
            file.write(make().contiguous().flatten().view(torch.uint8).numpy().data)
