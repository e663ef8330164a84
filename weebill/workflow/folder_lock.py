"""Locks of the folder where Snakemake runs: its own, which a killed Snakemake leaves there, and one of the system.

The system's lock ends with the process that holds it, whatever ends that, and is seen from other containers too, and
from other machines where the file system passes locks on (NFS from version 4).
"""

import fcntl
import os
from pathlib import Path

import psutil

from weebill.errors import InputError

LOCKS = Path(".snakemake/locks")
HELD = Path(".snakemake/weebill.lock")


def living_snakemake(folder: Path) -> psutil.Process | None:
    """Return a Snakemake process that runs in `folder`, or None."""
    for process in psutil.process_iter():
        try:
            words = process.cmdline()[:3]
            if any(Path(w).name == "snakemake" for w in words) and process.cwd() == str(folder):
                return process
        except psutil.Error:  # the process has ended, or belongs to another user
            continue
    return None


def remove_left_lock(folder: Path) -> None:
    """Remove the lock that a killed Snakemake left in `folder`; raise InputError if a Snakemake still runs there."""
    locks = list((folder / LOCKS).glob("*.lock"))
    if not locks:
        return
    if alive := living_snakemake(folder.resolve()):
        raise InputError(
            f"Snakemake runs here already (process {alive.pid}); wait for it, or end it"
        )
    for lock in locks:
        lock.unlink(missing_ok=True)


def hold(folder: Path) -> None:
    """Hold `folder` until this process ends, also as another program.  Raises InputError if another one holds it."""
    path = folder / HELD
    path.parent.mkdir(exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise InputError(
            f"{folder}: a run is under way here, in another container or on another machine perhaps; wait for it, "
            "or end it"
        ) from error
    os.set_inheritable(descriptor, True)
