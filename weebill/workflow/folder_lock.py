"""Lock of an experiment's results, which permits one run at a time anywhere, and clean-up after killed runs.

Snakemake has its own lock, but only in the folder where it runs, and the lock remains when Snakemake is killed.  The
lock of the results belongs to the operating system: it ends with the process that holds it, in any case, and works
through other mounts, from other containers, and from other machines if the file system passes locks on (NFS 4, and
NFS 3 unless mounted with `nolock` or `local_lock`).
"""

import errno
import fcntl
import logging
import os
import re
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from weebill.errors import InputError
from weebill.workflow.parent_watch import PERIOD, jobs_of_none

SNAKEMAKE_LOCKS = Path(".snakemake/locks")
LOCK = ".run.lock"
WAIT = 5 * PERIOD  # seconds until jobs of a killed run have ended by themselves
_held: list[int] = []  # descriptors, open until this process ends


def hold(results: Path) -> None:
    """Lock the results of an experiment until this process ends.

    Raises InputError if another run holds them, or if a job of a killed run does not end.
    """
    results.mkdir(parents=True, exist_ok=True)
    descriptor = _lock(results)
    if descriptor is None:
        raise InputError(
            f"{results}: a run of this experiment is under way{_whose(results / LOCK)}"
        )
    _held.append(descriptor)
    limit = time.monotonic() + WAIT
    while left := jobs_of_none(Path.cwd()):
        if time.monotonic() > limit:
            named = ", ".join(f"{one.pid} ({one.status()})" for one in left)
            numbers = " ".join(str(one.pid) for one in left)
            raise InputError(
                f"{results}: jobs of a killed run do not end: process {named}; end them: kill -9 {numbers}"
            )
        time.sleep(PERIOD / 10)


def remove_left_locks(results: Path) -> None:
    """Remove the locks that a killed Snakemake left in the current folder, if no run holds `results`.

    If two runs start at the same moment, `hold` lets only one continue.
    """
    locks = [path for path in SNAKEMAKE_LOCKS.glob("*.lock") if _is_of(path, results)]
    if locks and _is_free(results):
        for path in locks:
            path.unlink(missing_ok=True)


def remove_left_outputs(jobs: Iterable[Any]) -> None:
    """Remove temporary outputs of jobs, which a killed Snakemake did not remove."""
    for path in {Path(file) for job in jobs for file in job.temp_output}:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _is_free(results: Path) -> bool:
    if not results.is_dir():
        return True
    descriptor = _lock(results)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is not None


def _is_of(lock: Path, results: Path) -> bool:
    """Return True if a lock of Snakemake, which is a list of files, lists a file of an experiment."""
    lines = lock.read_text("utf-8", "replace").splitlines()
    return any(line.startswith(f"{results}/") for line in lines)


def _lock(results: Path) -> int | None:
    """Return a descriptor that holds the results; None if another process holds them."""
    descriptor = os.open(results / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP):
            raise
        logging.warning("%s: no locks on this file system; start one run at a time", results)
    return descriptor


def _whose(lock: Path) -> str:
    """Return the end of a message, with the process that holds a lock."""
    number = lock.stat().st_ino
    found = re.search(rf"FLOCK .* WRITE (\d+) \S+:{number} ", _system_locks())
    place = ", in another container or on another machine"
    with suppress(psutil.Error):  # the process is invisible here, or has ended by now
        if found:
            place = f" (process {found[1]}, {psutil.Process(int(found[1])).status()})"
    return f"{place}; wait for it, or end it"


def _system_locks() -> str:
    try:
        return Path("/proc/locks").read_text("ascii")
    except OSError:  # not on Linux
        return ""
