"""Atomic files and folders: they appear whole or not at all."""

import errno
import fcntl
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from weebill.durable import make_folders, put_in_place, sync, sync_tree
from weebill.errors import InputError, error_number
from weebill.processes import is_left, maker_mark
from weebill.replaceable import FolderKind, check_replaceable
from weebill_runtime.json_text import parse_json

MIB, GIB = 2**20, 2**30  # bytes
WEIGHTS = "model.safetensors"  # of a model folder
LOCK = ".lock"
FULL = (errno.ENOSPC, errno.EDQUOT)
# Prefixes of the names that network file systems give to removed files that a process still has open.
STILL_OPEN = (".nfs", ".fuse_hidden")


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it replaces `path` durably if the block succeeds, else it is removed."""
    given, path = path, Path(path).resolve()  # a link stays a link
    if path.exists() and not (path.is_file() or path.is_dir()):  # such as /dev/null
        raise InputError(f"{path}: not a plain file; name one, or a new one")
    partial = _partial(path)
    try:
        with _full_disk_at(given, partial):
            yield partial
            sync(partial)
            os.replace(partial, path)
            sync(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def check_file(path: str | Path) -> None:
    """Raise the error of `atomic_path` for a file that cannot be made or replaced, for use before long work."""
    place = Path(path).resolve()
    if place.exists() and not place.is_file():
        raise InputError(f"{path}: not a plain file; name one, or a new one")
    partial = _partial(place)
    partial.touch()
    partial.unlink()


@contextmanager
def atomic_folder(path: str | Path, kind: FolderKind | None = None) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; it replaces `path` durably if the block succeeds, else it is removed.

    kind: kind of an earlier folder at `path` that may be replaced; None: only a missing or empty one.
    Raises InputError, before or after the block, if anything else would be deleted, or nothing can be written.
    """
    place, partial = _begin(path, kind)
    try:
        with _full_disk_at(path, partial):
            yield partial
            sync_tree(partial)
            check_replaceable(place, kind)  # its content may have changed meanwhile
            _put_in_place(partial, place, path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def check_folder(path: str | Path, kind: FolderKind | None = None) -> None:
    """Raise InputError as `atomic_folder` does before its block, for use before long work."""
    _begin(path, kind)[1].rmdir()


def move_folder(made: Path, path: str | Path, kind: FolderKind | None = None) -> None:
    """Move a finished folder to its final place, like `atomic_folder`; remove partial files of killed processes."""
    place, partial = _begin(path, kind)
    partial.rmdir()
    for leftover in made.glob(".*.partial-*"):
        leftover.unlink()
    sync_tree(made)
    itself = made.stat()
    # Take another name first, because a kill must not leave the replaced folder in place of `made`.
    os.replace(made, partial)
    try:
        _put_in_place(partial, place, path)
    except BaseException:
        if partial.is_dir() and os.path.samestat(itself, partial.stat()):  # not in place yet
            os.replace(partial, made)
        raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def remove_folder(path: str | Path) -> None:
    """Remove a folder atomically: an interruption never leaves a part of it at `path`."""
    path = Path(path)
    partial = _partial(path)
    os.replace(path, partial)
    sync(path.parent)
    _remove_tree(partial)
    sync(path.parent)


def _remove_tree(folder: Path) -> None:
    """Remove a folder; on network file systems, a folder with open files remains until it is removed again."""
    shutil.rmtree(folder, ignore_errors=True)
    files = (path for path in folder.rglob("*") if not path.is_dir())
    if not all(path.name.startswith(STILL_OPEN) for path in files):
        shutil.rmtree(folder)  # raises the error


def _begin(path: str | Path, kind: FolderKind | None) -> tuple[Path, Path]:
    """Return the absolute path of a folder to be made; make and return the temporary folder of this process."""
    place = check_replaceable(path, kind)
    with _refused(path, "made", "; name a folder where you can write"):
        partial = _partial(place)
        partial.mkdir()
    return place, partial


def _put_in_place(partial: Path, place: Path, path: str | Path) -> None:
    with _refused(path, "replaced", ", it is as it was; name a new folder"):
        put_in_place(partial, place, place.with_name(f"{_former(place)}{maker_mark()}"))


@contextmanager
def _refused(path: str | Path, action: str, remedy: str) -> Iterator[None]:
    """Raise InputError for a system error, except a full disk, whose remedy `errors.explain` names."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise InputError(f"{path}: cannot be {action} ({error.strerror}){remedy}") from error


@contextmanager
def _full_disk_at(path: str | Path, partial: Path) -> Iterator[None]:
    """Add the name of the output to an error for a full disk that names no file or a partial file."""
    try:
        yield
    except Exception as error:
        name = getattr(error, "filename2", None) or getattr(error, "filename", None) or partial
        code = error_number(error)
        if code in FULL and str(name).startswith(str(partial)):
            raise OSError(code, os.strerror(code), str(path)) from error
        raise


def _partial(path: Path) -> Path:
    """Return this process's place to make or remove `path`; restore or remove leftovers of killed processes."""
    make_folders(path.parent)
    prefix, former = f".{path.name}.partial-", _former(path)
    for entry in path.parent.iterdir():
        begin = former if entry.name.startswith(former) else prefix
        if entry.name.startswith(begin) and is_left(entry.name.removeprefix(begin), entry):
            if begin == former and not os.path.lexists(path):
                os.replace(entry, path)
            elif entry.is_dir() and not entry.is_symlink():
                _remove_tree(entry)
            else:
                entry.unlink(missing_ok=True)
    return path.with_name(f"{prefix}{maker_mark()}")


def _former(path: Path) -> str:
    return f".{path.name}.former-"


@contextmanager
def exclusive_folder(folder: str | Path) -> Iterator[None]:
    """Lock a folder of checkpoints; wait while another process holds it.  The block may remove the folder."""
    folder = Path(folder)
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                logging.info("%s: another process is at work here; waiting for it to end", folder)
                fcntl.flock(lock, fcntl.LOCK_EX)
            there = False
            with suppress(FileNotFoundError):
                there = os.path.samestat(os.fstat(lock.fileno()), (folder / LOCK).stat())
            if there:  # otherwise its holder has removed the folder
                yield
                break
    if not folder.exists():
        _partial(folder)  # removes files that a network file system kept until the lock was closed


def claim_folder(
    folder: Path, note: str, identity: Mapping[str, Any], keep: Collection[str] = ()
) -> None:
    """Assign a folder of unfinished work to `identity`; remove work of another identity.

    identity: plain values of everything that determines the result, for the file `note`.  keep: names of entries that
    are never removed.
    """
    identity = json.loads(json.dumps(identity))  # same form as after reading
    path = folder / note
    found = read_json(path) if path.is_file() else None
    if found == identity:
        return
    if found is not None:
        other = [name for name, value in identity.items() if found.get(name) != value]
        logging.info("%s: begun with other %s; starting over", folder, ", ".join(other))
        path.unlink()  # first, else after an interruption the rest would look complete
    for entry in list(folder.iterdir()):
        if entry.name not in (LOCK, *keep):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    write_json(path, identity)


@contextmanager
def unfinished_work(output: str | Path, identity: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the folder OUTPUT.work with the unfinished work of `identity`; remove it if the block succeeds.

    Work of another identity is removed first.  Another process that makes the same output waits.
    """
    output = Path(output)
    work = output.with_name(f"{output.name}.work")
    with exclusive_folder(work):
        claim_folder(work, "identity.json", identity)
        yield work
        remove_folder(work)


def check_plain(path: str | Path) -> None:
    """Raise InputError for a pipe, device or socket, or a folder with one, because reading might never end."""
    path = Path(path)
    for one in sorted(path.iterdir()) if path.is_dir() else [path]:
        if one.exists() and not (one.is_file() or one.is_dir()):
            raise InputError(f"{one}: not a plain file; put the file itself there, or remove it")


def sha256_file(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_files(paths: Iterable[str | Path]) -> str:
    """Return the SHA-256 of one file, or of the lines of several files' digests, in the given order."""
    digests = [sha256_file(path) for path in paths]
    return digests[0] if len(digests) == 1 else sha256_text("".join(f"{d}\n" for d in digests))


def content_hash(path: str | Path) -> str:
    """Return the SHA-256 of a file, or of a folder's files and their names."""
    path = Path(path)
    if path.is_file():
        return sha256_file(path)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return sha256_text("".join(f"{file.relative_to(path)} {sha256_file(file)}\n" for file in files))


def parameter_files(folder: str | Path) -> list[Path]:
    """Return the files of a model folder with its parameters, by name.  Raises InputError if there is none."""
    files = sorted(Path(folder).glob("*.safetensors"))
    if not files:
        raise InputError(f"{folder}: no *.safetensors file; is this a model folder?")
    return files


def sha256_text(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as JSON with sorted keys, so that equal values make equal files; dataclasses become objects."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=asdict)
    write_text(path, f"{text}\n")


def read_json(path: str | Path) -> Any:
    """Read the value in a JSON file.  Raises InputError if the file is missing or not JSON."""
    path = Path(path)
    check_plain(path)
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path") from error
    except ValueError as error:
        raise InputError(f"{path}: not valid JSON ({error}); make it again") from error


def write_text(path: str | Path, text: str) -> None:
    """Write a UTF-8 text file atomically; newlines stay as given."""
    with atomic_path(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="")
