"""Files of Marian: .npz and .bin models, .yml vocabularies, lexical shortlists as text and binary.

Marian unites the lists of all source pieces of a batch, the end included, and adds the pieces themselves if both
sides share a vocabulary.  Frequent pieces stand in the list of the end, because every source has an end.
"""

import json
import lzma
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from weebill.errors import InputError
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import EOS

OPTIONS = "special:model.yml"
FLOAT32, INT8 = 0x404, 0x101  # Marian's numbers of types in .bin files
ALIGNMENT = 256
MAGIC = 0xF11A48D5013417F5  # of binary shortlists
# Marian adds the first two pieces of the vocabulary to shortlists: the end and the unknown.
FIRST = 2
# Exceptions of numpy and zipfile, depending on which part of a file is damaged.
DAMAGED = (
    *(OSError, ValueError, RuntimeError, MemoryError, EOFError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)


def write_npz(path: Path, arrays: Mapping[str, np.ndarray], options: Mapping[str, Any]) -> None:
    """Write a model with equal bytes for equal contents; numpy's own writer records the time."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in _with_options(arrays, options).items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w") as file:
                np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)


def read_npz(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read tensors and options of a model.  Raises InputError where the file is none, or has no options."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; check the path")
    try:
        archive = np.load(path, allow_pickle=False)
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
        raise InputError(
            f"{path}: not a Marian .npz, or damaged ({reason}); fetch the file again, and of a .bin for "
            "browsers take the .npz that it was made from"
        ) from error
    if OPTIONS not in arrays:
        raise InputError(f"{path}: no {OPTIONS} in it; name a model that Marian wrote")
    text = arrays.pop(OPTIONS).tobytes().rstrip(b"\0")
    try:
        options = yaml.safe_load(text.decode("utf-8"))
    except (ValueError, yaml.YAMLError) as error:  # YAML's impossible dates are ValueErrors
        raise InputError(f"{path}: {OPTIONS} is not YAML; fetch the file again") from error
    if not isinstance(options, dict):
        raise InputError(f"{path}: {OPTIONS} holds no options; fetch the file again")
    return arrays, options


def write_bin(path: Path, arrays: Mapping[str, np.ndarray], options: Mapping[str, Any]) -> None:
    """Write Marian's own binary format, which engines in browsers read: headers, names, shapes, padding, data."""
    items = [
        (name.encode() + b"\0", array, array.tobytes() + bytes(-array.nbytes % ALIGNMENT))
        for name, array in _with_options(arrays, options).items()
    ]
    head = [1, len(items)]  # version, number of items
    for name, array, data in items:
        head += [len(name), INT8 if array.dtype == np.int8 else FLOAT32, array.ndim, len(data)]
    content = np.array(head, dtype="<u8").tobytes() + b"".join(name for name, _, _ in items)
    content += b"".join(np.array(array.shape, dtype="<i4").tobytes() for _, array, _ in items)
    offset = -(len(content) + 8) % ALIGNMENT  # the data begins on a boundary
    with path.open("wb") as file:
        file.write(content + np.array(offset, dtype="<u8").tobytes() + bytes(offset))
        for _, _, data in items:
            file.write(data)


def write_vocabulary(path: Path, pieces: Sequence[str]) -> None:
    """Write a vocabulary as YAML, a piece and its number a line; JSON's quotes are valid YAML."""
    lines = [f"{json.dumps(piece, ensure_ascii=False)}: {i}\n" for i, piece in enumerate(pieces)]
    path.write_text("".join(lines), encoding="utf-8", newline="")


def _lists(shortlist: Shortlist) -> list[list[int]]:
    """Return the target pieces of each source piece, the likeliest first."""
    found = [
        list(dict.fromkeys(target for target in row if target >= 0))
        for row in shortlist.candidates.tolist()
    ]
    found[EOS] = list(dict.fromkeys([*found[EOS], *shortlist.frequent.tolist()]))
    return found


def write_shortlist_text(
    path: Path, shortlist: Shortlist, sources: Sequence[str], targets: Sequence[str]
) -> int:
    """Write lines `target source weight`, the weight giving only the order; return the length of the longest list.

    sources, targets: pieces of both vocabularies, which may be one.
    """
    odd = [
        piece for piece in (*sources, *targets) if len(piece.encode().split()) != 1
    ]  # ASCII space divides
    if odd:
        raise InputError(
            f"Marian's text shortlists cannot hold the piece {odd[0]!r}, which contains a space; "
            "export without --shortlist"
        )
    rows = _lists(shortlist)
    with path.open("w", encoding="utf-8", newline="") as file:
        for source, row in zip(sources, rows, strict=True):
            for rank, target in enumerate(row, start=1):
                file.write(f"{targets[target]} {source} {1 / rank:.6f}\n")
    return max(map(len, rows))


def write_shortlist(path: Path, shortlist: Shortlist) -> None:
    """Write header, offsets (one more than source pieces) and target pieces, ascending for each source piece."""
    rows = _lists(shortlist)
    offsets = np.cumsum([0, *map(len, rows)], dtype="<u8")
    targets = np.array([target for row in rows for target in sorted(row)], dtype="<u4")
    body = np.array([FIRST, max(map(len, rows)), len(offsets), len(targets)], dtype="<u8").tobytes()
    body += offsets.tobytes() + targets.tobytes()
    checksum, mask = 0, 2**64 - 1  # Marian's hash over whole 64-bit words
    for word in np.frombuffer(body[: len(body) // 8 * 8], dtype="<u8").tolist():
        checksum ^= (word + 0x9E3779B9 + (checksum << 6) + (checksum >> 2)) & mask
    path.write_bytes(np.array([MAGIC, checksum], dtype="<u8").tobytes() + body)


def _with_options(
    arrays: Mapping[str, np.ndarray], options: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    text = yaml.safe_dump(dict(options), sort_keys=True).encode() + b"\0"  # a C string
    return {**arrays, OPTIONS: np.frombuffer(text, dtype=np.int8)}
