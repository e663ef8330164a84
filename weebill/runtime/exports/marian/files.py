"""Files of Marian: models, .npz or binary, and .yml vocabularies."""

import gzip
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weebill.errors import InputError
from weebill.runtime.exports.marian.binary import VERSION, read_bin
from weebill.runtime.exports.marian.options import OPTIONS, read_options, with_options

# Exceptions of numpy and zipfile, depending on which part of a file is damaged.
DAMAGED = (
    *(OSError, ValueError, RuntimeError, MemoryError, EOFError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)


def write_npz(path: Path, arrays: Mapping[str, np.ndarray], options: Mapping[str, Any]) -> None:
    """Write a model with equal bytes for equal contents; numpy's own writer records the time."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in with_options(arrays, options).items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w") as file:
                np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)


def read_model(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors, arrays or `binary.Codes`, and the options of a model; its content shows which kind it is.

    Raises InputError if the file is not a model, is damaged or has no options.
    """
    content = unpacked(path)
    binary = content[:8] == VERSION.to_bytes(8, "little") or ".bin" in path.suffixes
    return read_bin(content, path) if binary else read_npz(path, content)


def unpacked(path: Path) -> bytes:
    """Return the content of a file, which gzip may have compressed.  Raises InputError if there is no such file."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; check the path")
    content = path.read_bytes()
    if content.startswith(b"\x28\xb5\x2f\xfd"):
        raise InputError(f"{path}: compressed by zstd; unpack it by `zstd -d` and name the result")
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: damaged ({error}); fetch the file again") from error


def read_npz(
    path: Path, content: bytes | None = None
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return arrays and options of a .npz, or of its content.  Raises InputError as `read_model` does."""
    content = unpacked(path) if content is None else content
    try:
        if not content.startswith((b"PK", b"\x93NUMPY")):
            raise ValueError("it is no archive of arrays")
        archive = np.load(io.BytesIO(content), allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("it is a single array")
        with archive:
            arrays = {name: archive[name] for name in archive.files}
        # numpy returns members of other kinds as bytes
        other = [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]
        if other:
            raise ValueError(f"{other[0]} in it is no array")
    except DAMAGED as error:
        reason, *_ = str(error).splitlines() or [type(error).__name__]
        message = f"{path}: not a Marian .npz, or damaged ({reason}); fetch the file again"
        raise InputError(message) from error
    if OPTIONS not in arrays:
        raise InputError(f"{path}: no {OPTIONS} in it; name a model that Marian wrote")
    return arrays, read_options(arrays.pop(OPTIONS), path)


def write_vocabulary(path: Path, pieces: Sequence[str]) -> None:
    """Write a vocabulary as YAML, a piece and its number a line; JSON's quotes are valid YAML."""
    lines = [f"{json.dumps(piece, ensure_ascii=False)}: {i}\n" for i, piece in enumerate(pieces)]
    path.write_text("".join(lines), encoding="utf-8", newline="")
