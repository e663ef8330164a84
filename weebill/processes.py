"""Marks of processes in names of files, which show if the process that makes a file still runs, on any machine."""

import hashlib
import os
import re
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

MARK = re.compile(r"(\d+)(?:-([0-9a-f]{8}))?")  # earlier versions did not name the machine
# Seconds without a change after which another machine's file counts as left behind.
LEFT_AFTER = 24 * 3600


def machine() -> str:
    """Return an identity of the running system and its process numbers, which are separate in a container."""
    with suppress(OSError):  # not on Linux
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    return "-"


def maker_mark() -> str:
    """Return the mark of this process for the names of its temporary files: number and machine."""
    return f"{os.getpid()}-{_short(machine())}"


def is_left(mark: str, file: Path) -> bool:
    """Return True if a mark in the name of `file` is from this process, or from a process that has ended.

    For another machine's process this is not known; it counts as ended if its file, or the newest file in its folder,
    has not changed for a day.
    """
    found = MARK.fullmatch(mark)
    if found is None:
        return False
    process, place = int(found[1]), found[2]
    if place in (None, _short(machine())):
        return process == os.getpid() or not _lives(process)
    changed = [0.0]
    for one in (file, *file.rglob("*")):
        with suppress(OSError):  # its process may move it at this moment
            changed.append(one.lstat().st_mtime)
    return time.time() - max(changed) > LEFT_AFTER


def _lives(process: int) -> bool:
    """Return True for a process that has not ended; a zombie, whose parent never waits for it, has ended."""
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@cache
def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
