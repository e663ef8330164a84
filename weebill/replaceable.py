"""Checks that a folder may be replaced as a whole: it is missing, empty, or an earlier result of the same kind."""

import os
import stat
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import psutil

from weebill.errors import InputError
from weebill_runtime.json_text import parse_json

STAMP = ".snakemake_timestamp"  # Snakemake's file in folders that a rule made


@dataclass(frozen=True)
class FolderKind:
    """Entries of one kind of result, which distinguish an earlier result from a user's own folder."""

    always: tuple[str, ...] = ()
    """Paths of files that every such folder has."""
    perhaps: tuple[str, ...] = ()
    """Patterns of files that it may have; `*` does not match a slash."""
    mark: tuple[str, Callable[[Path], bool]] | None = None
    """File, and a check of its content that returns True if Weebill wrote it."""


def check_replaceable(path: str | Path, kind: FolderKind | None = None) -> Path:
    """Return the absolute path of a folder that may be made or replaced.  Raises InputError if it may not."""
    path = Path(path)  # removes a trailing slash, which would hide a link
    try:
        linked, place = path.is_symlink(), path.resolve()
        found = place.lstat() if os.path.lexists(place) else None
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a long name, a null
        raise InputError(f"{path}: not the path of a folder ({error}); name another") from error
    if linked:
        raise InputError(f"{path}: a link; name the folder it leads to ({place}), or a new one")
    if place == Path.cwd() or place in Path.cwd().parents:
        raise InputError(f"{path}: is or holds the present folder; name a new folder in it")
    if found is None:
        return place
    if not stat.S_ISDIR(found.st_mode):
        raise InputError(f"{path}: not a folder; name a new folder, or remove this first")
    if str(place) in {partition.mountpoint for partition in psutil.disk_partitions(all=True)}:
        raise InputError(f"{path}: a mount point, which stays; name a new folder in it")
    if not os.access(place, os.R_OK | os.W_OK | os.X_OK):
        raise InputError(f"{path}: permission denied; name a folder that can be read and written")
    _check_entries(path, place, kind or FolderKind())
    return place


def has_keys(file: Path, keys: Set[str]) -> bool:
    """Return True for a JSON file with an object that has these keys."""
    try:
        found = parse_json(file.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(found, dict) and found.keys() >= keys


def has_format(file: Path, formats: Sequence[str]) -> bool:
    """Return True for a JSON file with an object whose `format` is one of these."""
    return has_keys(file, {"format"}) and parse_json(file.read_text("utf-8"))["format"] in formats


def _check_entries(path: Path, place: Path, kind: FolderKind) -> None:
    """Raise InputError, which names the entry, if replacing a folder would delete an entry of the user."""
    remedy = "name a new folder, or move that elsewhere"
    patterns = [pattern.split("/") for pattern in (*kind.always, *kind.perhaps)]
    own = []
    for entry in sorted(place.rglob("*")):  # does not follow links
        name, mode = entry.relative_to(place).as_posix(), entry.lstat().st_mode
        if name == STAMP or Path(name).name.startswith(".nfs"):  # removed, but still open somewhere
            continue
        if not any(_fits(name.split("/"), mode, pattern) for pattern in patterns):
            raise InputError(f"{path}: holds '{name}', which would be deleted; {remedy}")
        own.append(name)
    missing = [name for name in kind.always if name not in own]
    if own and missing:
        found = f"holds '{own[0]}' and no '{missing[0]}', so it is no earlier result"
        raise InputError(f"{path}: {found}, and would be deleted; {remedy}")
    if own and kind.mark is not None and not kind.mark[1](place / kind.mark[0]):
        found = f"holds '{kind.mark[0]}', which Weebill did not write"
        raise InputError(f"{path}: {found}, and which would be deleted; {remedy}")


def _fits(parts: list[str], mode: int, pattern: list[str]) -> bool:
    """Return True for a plain file that matches a pattern, or a folder above such files."""
    if not all(map(fnmatchcase, parts, pattern)):
        return False
    if stat.S_ISREG(mode):
        return len(parts) == len(pattern)
    return stat.S_ISDIR(mode) and len(parts) < len(pattern)
