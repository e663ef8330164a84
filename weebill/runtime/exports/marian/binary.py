"""Marian's binary models: tensors of float32 or, in Firefox's students, of 8-bit integers with a multiplier.

A file has, in this order: its version and the number of its items; for each item the length of its name, its type,
its number of dimensions and the length of its data; all names, each ended by a zero byte; all shapes; the length of a
padding, and the padding; all data, each padded to 256 bytes.  Numbers have 64 bits, those of shapes 32.

A tensor of integers ends with its multiplier, a float32: number = integer / multiplier.  A matrix (in, out) is stored
transposed, row by row of `out`, under its untransposed shape; tables of embeddings, with `Wemb` in their names, are
stored as they are.  An engine brings the integers into the order of its processor when it loads them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from weebill.errors import InputError
from weebill.runtime.exports.marian.options import OPTIONS, read_options, with_options

VERSION, ALIGNMENT = 1, 256
FLOAT32, INT8, INTGEMM8 = 0x404, 0x101, 0x4101  # Marian's numbers of types
# Types that only some processors or other precisions read.
OTHER = {
    0x402: "float16",
    0x802: "packed16",
    0x1801: "packed8avx2",
    0x2801: "packed8avx512",
    0x4102: "intgemm16",
}
TABLE = "Wemb"  # part of the names of embeddings
SCALES = "_QuantMultA"  # ending of the names of activation scales, "alphas"


@dataclass(frozen=True)
class Codes:
    """Integers −127…127 of a tensor, int8, and their multiplier: number = integer / multiplier."""

    integers: np.ndarray
    multiplier: float

    def decoded(self) -> np.ndarray:
        """Return the numbers, float32."""
        return self.integers.astype(np.float32) / np.float32(self.multiplier)


Tensors = Mapping[str, "np.ndarray | Codes"]


def decoded(tensors: Tensors) -> dict[str, np.ndarray]:
    """Return tensors by name, with the numbers instead of codes."""
    return {name: t.decoded() if isinstance(t, Codes) else t for name, t in tensors.items()}


def write_bin(path: Path, tensors: Tensors, options: Mapping[str, Any]) -> None:
    """Write a model, with its options as the last item."""
    items = []
    for name, tensor in with_options(tensors, options).items():
        if isinstance(tensor, Codes):
            kind, shape = INTGEMM8, tensor.integers.shape
            stored = tensor.integers if TABLE in name else tensor.integers.T
            data = stored.tobytes() + np.float32(tensor.multiplier).tobytes()
        else:
            kind = INT8 if tensor.dtype == np.int8 else FLOAT32
            shape, data = tensor.shape, tensor.tobytes()
        data += bytes(-len(data) % ALIGNMENT)
        items.append((name.encode() + b"\0", kind, np.array(shape, dtype="<i4"), data))
    head = [VERSION, len(items)]
    for name, kind, shape, data in items:
        head += [len(name), kind, len(shape), len(data)]
    content = np.array(head, dtype="<u8").tobytes() + b"".join(name for name, *_ in items)
    content += b"".join(shape.tobytes() for _, _, shape, _ in items)
    offset = -(len(content) + 8) % ALIGNMENT  # the data begins on a boundary
    with path.open("wb") as file:
        file.write(content + np.array(offset, dtype="<u8").tobytes() + bytes(offset))
        for *_, data in items:
            file.write(data)


def read_bin(content: bytes, path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors, arrays or `Codes`, and the options of a model.

    Raises InputError, which names `path`, if the content is not such a model, is cut short, or has a type that we do
    not read.
    """
    try:
        return _items(memoryview(bytearray(content)), path)  # arrays that may be written
    except (ValueError, OverflowError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: not a binary model of Marian, or damaged ({error}); fetch the file again"
        ) from error


def _items(content: memoryview, path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    place = 0

    def take(count: int) -> memoryview:
        nonlocal place
        if count < 0 or count > len(content) - place:
            raise ValueError(f"it ends at byte {len(content):,}, and more is announced")
        place += count
        return content[place - count : place]

    def numbers(count: int, kind: str) -> list[int]:
        return np.frombuffer(take(count * np.dtype(kind).itemsize), kind).tolist()

    version, count = numbers(2, "<u8")
    if version != VERSION:
        raise ValueError(f"its first number is {version}, expected {VERSION}")
    heads = [numbers(4, "<u8") for _ in range(min(count, len(content)))]
    names = [bytes(take(length)).removesuffix(b"\0").decode() for length, *_ in heads]
    shapes = [numbers(dimensions, "<i4") for _, _, dimensions, _ in heads]
    take(*numbers(1, "<u8"))
    tensors: dict[str, Any] = {}
    for name, shape, (_, kind, _, length) in zip(names, shapes, heads, strict=True):
        data, size = take(length), prod(shape)
        if kind not in (FLOAT32, INT8, INTGEMM8):
            raise InputError(
                f"{path}: {name} has Marian's type {OTHER.get(kind, hex(kind))}; Weebill reads float32 and intgemm8: "
                "take the .npz that the file was made of, or one made by `marian-conv --gemm-type intgemm8`"
            )
        if min(shape, default=0) < 1:
            raise ValueError(f"{name} has the shape {shape}")
        if kind == INTGEMM8:
            integers, multiplier = _numbers(data, size, np.int8, name)
            [scale] = _numbers(multiplier, 1, "<f4", name)[0].tolist()
            if not (scale > 0 and np.isfinite(scale)):
                raise ValueError(f"the multiplier of {name} is {scale:g}")
            if name.endswith(SCALES):  # by its name Marian took it for a table
                tensors[name] = Codes(integers, scale).decoded().reshape(shape)
            else:
                turned = TABLE not in name
                integers = integers.reshape(shape[::-1]).T if turned else integers.reshape(shape)
                tensors[name] = Codes(integers, scale)
        else:
            found, _ = _numbers(data, size, np.int8 if kind == INT8 else "<f4", name)
            tensors[name] = found.reshape(shape)
    if OPTIONS not in tensors:
        raise ValueError(f"no {OPTIONS} in it")
    return tensors, read_options(tensors.pop(OPTIONS), path)


def _numbers(data: memoryview, size: int, kind: Any, name: str) -> tuple[np.ndarray, memoryview]:
    """Return the first numbers of some data, and the rest of the data."""
    length = size * np.dtype(kind).itemsize
    if length > len(data):
        raise ValueError(f"{name} has {len(data):,} bytes, expected {length:,}")
    return np.frombuffer(data[:length], kind), data[length:]
