"""Durable renaming and syncing, so that results are on the disk even after a power loss."""

import ctypes
import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
# Errors of file systems that cannot exchange names.
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)  # file systems that sync files only
_AT_ONCE = 8  # parallel syncs of files; they share one write of the file system's journal


def sync(path: str | Path) -> None:
    """Wait until a file, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC or not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise
    finally:
        os.close(descriptor)


def sync_tree(folder: str | Path) -> None:
    """Wait until a folder is on the disk: every file, then every sub-folder, then itself; do not follow links."""
    files, folders = [], []
    for place, _, names in os.walk(folder, onerror=_raise):
        folders.append(place)
        paths = (os.path.join(place, name) for name in names)  # noqa: PTH118  faster for many files
        files += [path for path in paths if stat.S_ISREG(os.lstat(path).st_mode)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(sync, files))  # raises the exception of a failed sync
    for place in reversed(folders):
        sync(place)


def make_folders(folder: Path) -> None:
    """Make a folder and its missing parents, durably."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir(exist_ok=True)
        sync(one.parent)


def put_in_place(new: Path, place: Path, aside: Path) -> None:
    """Rename a synced folder to `place`, durably; an earlier folder there is renamed to `new`.

    One of them exists at every moment, and a failure changes neither.
    aside: a free name beside `place`, for file systems that cannot exchange two names atomically.  A process killed
    between two renamings leaves the earlier folder under this name.
    """
    if not os.path.lexists(place):
        os.replace(new, place)
    elif not _exchange(new, place):
        os.replace(place, aside)
        try:
            os.replace(new, place)
        except BaseException:
            if not os.path.lexists(place):  # false if the interruption came just after the renaming
                os.replace(aside, place)
            raise
        os.replace(aside, new)
    sync(place.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names atomically; return False if the system or the file system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


def _raise(error: OSError) -> None:
    raise error
