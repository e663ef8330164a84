"""A job ends with the run that started it.

Killing Snakemake outright leaves its jobs running.  A rerun starts the same jobs again, and two writers at
the same checkpoints would spoil both.  So each job looks for its Snakemake before anything heavy is loaded, and
then, once a second, whether it still lives.  A job that finds none any more ends at once.

How a job knows its Snakemake: rules/common.smk names it in the environment, which says it also of one that is gone,
and of one inside a Python program.  On a cluster, the Snakemake that runs on the job's machine names itself anew.
Without the name, it is an ancestor called so.  A process with neither goes on: it may run in a container of its own.
"""

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

PERIOD = 1.0  # seconds
NEAREST = 4  # ancestors looked at: a script's Snakemake is its parent, or a shell's parent
NAME = "WEEBILL_SNAKEMAKE"  # in the environment: the machine, the process and its start
_watching: set[int] = set()  # processes that look already: a fork has no thread


def announce_snakemake() -> None:
    """Name this process, a Snakemake, to the jobs that it starts."""
    os.environ[NAME] = _identity(os.getpid())


def is_job() -> bool:
    """Return True if the environment names a Snakemake of this machine, living or not."""
    machine = _identity(os.getpid()).split(" ")[0]
    return os.environ.get(NAME, "").split(" ")[0] == machine


def end_with_snakemake() -> None:
    """End this process within about a second of its Snakemake; at once, with a line in its log, if that is gone.

    Do nothing in a process that no Snakemake has started.
    """
    if os.getpid() in _watching:
        return
    snakemake = _named() or _above()
    if snakemake is not None:
        _watching.add(os.getpid())
        _end_with(snakemake)
    elif is_job():
        _end()


def end_with_parent() -> None:
    """End this process within about a second of the one that started it."""
    _end_with(psutil.Process(os.getppid()))


def _identity(process: int) -> str:
    """A process, its start and its machine, so that no other passes for it; OSError where it is gone."""
    machine = "-"
    with suppress(OSError):  # as on other systems than Linux
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        machine = f"{boot}/{Path('/proc/self/ns/pid').readlink()}"  # numbers differ in a container
    try:
        # Not psutil's time of creation: that moves with the clock.
        start = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2]
        return f"{machine} {process} {start.split()[19]}"
    except FileNotFoundError:
        return f"{machine} {process} {psutil.Process(process).create_time():.0f}"


def _named() -> psutil.Process | None:
    """The Snakemake that the environment names, if it lives on this machine."""
    if is_job():
        with suppress(psutil.Error, OSError, IndexError, ValueError):
            process = int(os.environ[NAME].split(" ")[1])
            if _identity(process) == os.environ[NAME]:
                return psutil.Process(process)
    return None


def _above() -> psutil.Process | None:
    """The nearest Snakemake among the ancestors."""
    return next(filter(_is_snakemake, psutil.Process().parents()[:NEAREST]), None)


def _given() -> object | None:
    """The object `snakemake` of a script that Snakemake runs; tests give one of another type."""
    found = getattr(sys.modules.get("__main__"), "snakemake", None)
    return found if type(found).__module__.split(".")[0] == "snakemake" else None


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
    _end()


def _end() -> None:
    """End this process with a line on stderr and, where that goes elsewhere, in the job's log."""
    line = f"process {os.getpid()} ends: who started it is gone; run again\n".encode()
    with suppress(Exception):  # whatever fails, the process ends
        os.write(2, line)
    with suppress(Exception):
        log = _log()
        if log is not None and not (log.exists() and os.path.samestat(os.fstat(2), log.stat())):
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("ab") as file:
                file.write(line)
    os._exit(1)


def _log() -> Path | None:
    """The log of this job: of its object `snakemake`, or of the option that other environments' scripts have."""
    given = _given()
    if given is not None:
        return Path(given.log[0]) if len(given.log) else None
    if "--log" in sys.argv[:-1]:
        return Path(sys.argv[sys.argv.index("--log") + 1])
    return None
