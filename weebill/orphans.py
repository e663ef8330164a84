"""A job ends with the run that started it.

Killing Snakemake outright leaves its jobs running.  A rerun starts the same jobs again, and two writers at
the same checkpoints would spoil both.  So each job looks, once a second, whether its Snakemake still lives.
"""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

PERIOD = 1.0  # seconds
NEAREST = 4  # ancestors looked at: a script's Snakemake is its parent, or a shell's parent


def end_with_snakemake() -> None:
    """End this process within about a second of the Snakemake above it; without one, do nothing."""
    for process in psutil.Process().parents()[:NEAREST]:
        if _is_snakemake(process):
            _end_with(process)
            return


def end_with_parent() -> None:
    """End this process within about a second of the one that started it."""
    _end_with(psutil.Process(os.getppid()))


def _end_with(process: psutil.Process) -> None:
    threading.Thread(target=_outlive, args=(process,), daemon=True).start()


def _is_snakemake(process: psutil.Process) -> bool:
    try:
        return any(Path(word).name == "snakemake" for word in process.cmdline()[:4])
    except psutil.Error:  # it ended meanwhile, or is another user's
        return False


def _outlive(process: psutil.Process) -> None:
    """Wait for the end of `process`; then end this one at once, as the kill itself would have."""
    with suppress(psutil.NoSuchProcess):  # it may end between the two questions
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(PERIOD)
    os._exit(1)
