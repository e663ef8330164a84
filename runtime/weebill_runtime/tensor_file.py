"""Tensors of a safetensors file as arrays on the mapped file: nothing is copied, and nothing executed.

The format: the size of the header (8 bytes, little-endian), the header (JSON: type, shape and place of each
tensor by its name), and the numbers of all tensors, without gaps.
"""

import mmap
import os
import stat
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from weebill_runtime.errors import InputError
from weebill_runtime.json_text import parse_json

FLOAT = "F32"
ARRAYS = {  # types that numpy has, by safetensors' names
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?",
}  # fmt: skip
LARGEST_HEADER = 100_000_000  # bytes, as in the library
METADATA = "__metadata__"
Expected = Callable[[str], tuple[str, ...]]  # the types that a tensor of a name may have; none: any


def read_tensors(
    path: str | Path, expected: Expected = lambda _: ()
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the arrays of a file by name, and its metadata; writing to an array does not change the file.

    Raises InputError if a tensor has a type other than `expected`, ValueError if the file is damaged, and OSError.
    """
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("not a plain file")
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        except ValueError as error:
            raise ValueError("an empty file") from error
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > min(LARGEST_HEADER, len(data) - 8):
        raise ValueError("no header, or a part of one")
    header = parse_json(data[8 : 8 + size].decode("utf-8"), object_pairs_hook=_unique)
    if not isinstance(header, dict):
        raise ValueError("its header is no JSON object")
    metadata = header.pop(METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(one, str) for one in metadata.values()):
        raise ValueError("its metadata are no texts")
    for name, entry in header.items():
        wanted = expected(name)
        if wanted and entry["dtype"] not in wanted:
            raise InputError(
                f"{path}: tensor {name} is {entry['dtype']}, expected {' or '.join(wanted)}; make it again or "
                "restore the file"
            )
    return _arrays(data, 8 + size, header), metadata


def _without_waiting(path: str, flags: int) -> int:
    """Open a file without waiting, even a pipe to which nobody writes."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _arrays(data: mmap.mmap, place: int, header: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the arrays, which must follow each other from `place` to the file's end."""
    arrays = {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        kind, shape = np.dtype(ARRAYS[entry["dtype"]]), tuple(entry["shape"])
        if not all(isinstance(size, int) for size in shape):
            raise ValueError(f"tensor {name} has the sizes {list(shape)!s:.60}")
        begin, end = (place + offset for offset in entry["data_offsets"])
        count = prod(shape)
        if min(shape, default=0) < 0 or end - begin != count * kind.itemsize:
            raise ValueError(f"tensor {name} of {list(shape)} has {end - begin} bytes")
        expected = place + sum(one.nbytes for one in arrays.values())
        if begin != expected or end > len(data):
            raise ValueError(f"tensor {name} is not where the one before it ends, or not whole")
        array = np.frombuffer(data, kind, count, begin) if count else np.empty(0, kind)
        arrays[name] = (array if array.flags.aligned else array.copy()).reshape(shape)
    if place + sum(one.nbytes for one in arrays.values()) != len(data):
        raise ValueError("more bytes than tensors")
    return arrays


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in its header")
    return found
