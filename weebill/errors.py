"""Error for bad input: one line for each fault, with the place and the remedy."""

import errno
import os
import re
from contextlib import suppress
from pathlib import Path

from weebill_runtime.errors import InputError, nearest, placed

__all__ = [
    "InputError",
    "Key",
    "abridged",
    "error_number",
    "explain",
    "first_line",
    "full_disk",
    "key_path",
    "nearest",
    "placed",
]

LONGEST_SHOWN = 200  # characters of a name or value in a message

Key = str | int  # key of a mapping, or index of a list's item, in a configuration

FEW_INODES = 16
LOOP = "Symlink loop from "  # beginning of a message of Python 3.11 and 3.12
_DISK_REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space and run again, finished work is kept",
    errno.EDQUOT: "the disk quota is used up; free some space and run again, finished work is kept",
    errno.EROFS: "the file system is read-only; choose a results folder that can be written",
    errno.EACCES: "permission denied; choose a folder that can be read and written",
    errno.ENXIO: "a socket or device that cannot be opened; name a plain file",
    errno.EISDIR: "a folder stands where a file should; choose another name",
    errno.ENOTDIR: "a file stands where a folder should; choose another place",
    errno.ENAMETOOLONG: "longer than the file system allows; choose a shorter name",
    errno.ELOOP: "a symbolic link that leads to itself; name a file or folder",
    errno.EEXIST: "something stands here already, a file perhaps where a folder should; choose another place",
}


def key_path(path: tuple[Key, ...]) -> str:
    """Format ("students", 1) as "students[1]"; invisible characters, such as no-break spaces, become their codes."""
    text = ""
    for key in path:
        if isinstance(key, str) and not key.isprintable():
            key = repr(key)[1:-1]
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
    return text or "top level"


def explain(error: BaseException, place: str = "results") -> str | None:
    """Return one line for the user if `error` is a fault of the input, disk or GPU memory, None if it is ours.

    place: file or folder that was written or read, for errors that name no file.
    """
    if isinstance(error, InputError):
        return str(error)
    if type(error).__name__ == "OutOfMemoryError":  # PyTorch's, which takes seconds to import
        return (
            "the GPU's memory is full; make batches smaller, or take a larger GPU or an idle one "
            f"({first_line(error)})"
        )
    code = error_number(error)
    if code == errno.ELOOP and isinstance(error, RuntimeError):
        place = str(error).removeprefix(LOOP).strip("'")
    name = str(getattr(error, "filename", None) or "")
    # Nothing can be written to a folder of the system, such as /proc.
    if isinstance(error, FileNotFoundError) and ".partial-" in name:
        return f"{abridged(Path(name).parent)}: no file can be made here; name a folder where you can write"
    if code in _DISK_REMEDIES:
        # For a renaming, name the destination, because the other name is that of a partial file.
        place = getattr(error, "filename2", None) or getattr(error, "filename", None) or place
        remedy = full_disk(place) if code == errno.ENOSPC else _DISK_REMEDIES[code]
        return f"{abridged(place)}: {remedy}"
    return None


def first_line(error: BaseException) -> str:
    """Return the first line of a library's error, or its class if there is no text.

    If it ends with a colon, the second line follows, which says what is wrong.  PyTorch's advice to read a pickle
    without `weights_only`, which executes its code, is left out.
    """
    lines = [line.strip() for line in str(error).splitlines() if "weights_only" not in line]
    lines = [line for line in lines if line] or [type(error).__name__]
    return " ".join(lines[: 2 if lines[0].endswith(":") else 1])


def error_number(error: BaseException) -> int | None:
    """Return the system's number of an error, even if only the message has it; None if there is none."""
    if isinstance(error, OSError):
        return error.errno
    if isinstance(error, RuntimeError) and str(error).startswith(LOOP):
        return errno.ELOOP
    found = re.search(r"\(os error (\d+)\)", str(error))  # safetensors, in Rust
    return int(found[1]) if found else None


def full_disk(place: str | Path) -> str:
    """Return, for a place where nothing could be written, what its file system lacks, and the remedy."""
    with suppress(OSError, ValueError, ZeroDivisionError):
        there = next(one for one in (Path(place), *Path(place).absolute().parents) if one.exists())
        found = os.statvfs(there)
        space, files = found.f_bavail / found.f_blocks, found.f_favail / max(1, found.f_files)
        # Some inodes may be free again by now.
        if found.f_files and found.f_favail <= FEW_INODES and files < space:
            return (
                "the file system has no inode left for another file; remove some files and run again, finished work "
                "is kept"
            )
    return _DISK_REMEDIES[errno.ENOSPC]


def abridged(text: object, most: int = LONGEST_SHOWN) -> str:
    """Return a text for a message; if it has more than `most` characters, return its beginning and its length."""
    whole = str(text)
    return whole if len(whole) <= most else f"{whole[: most // 2]}… ({len(whole):,} characters)"
