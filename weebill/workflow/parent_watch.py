"""Watch that ends a job together with the Snakemake that started it.

A killed Snakemake leaves its jobs running, and the next run starts the same jobs again: two writers of the same
checkpoints would destroy both.  So each job checks that its Snakemake runs, before it loads anything heavy and then
once a second.  rules/common.smk names the Snakemake in the environment, so that a job knows it even if it has ended;
on a cluster, the Snakemake on the job's machine names itself again.  Without this name, the nearest ancestor process
called snakemake is used.  A process without either continues, because it may run in its own container.
"""

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

from weebill.processes import machine

PERIOD = 1.0  # seconds
NEAREST = 4  # number of ancestors to check: a script's Snakemake is its parent, or a shell's parent
NAME = "WEEBILL_SNAKEMAKE"  # environment variable: machine, process and start of the process
_watching: set[int] = set()  # processes that already watch; a fork has no watching thread


def announce_snakemake() -> None:
    """Name this process, a Snakemake, in the environment of the jobs that it starts."""
    os.environ[NAME] = _identity(os.getpid())


def is_job() -> bool:
    """Return True if the environment names a Snakemake of this machine, running or not."""
    return _is_here(os.environ.get(NAME, ""))


def _is_here(identity: str) -> bool:
    """Return True if an identity belongs to a process of this machine."""
    return identity.split(" ")[0] == machine()


def end_with_snakemake() -> None:
    """End this process a second after the Snakemake that started it, if any, or at once if this has ended."""
    if os.getpid() in _watching:
        return
    snakemake = _named() or _above()
    if snakemake is not None:
        _watching.add(os.getpid())
        threading.Thread(target=_outlive, args=(snakemake,), daemon=True).start()
    elif is_job():
        _end()


def end_with_parent() -> None:
    """End this process about a second after the process that started it."""
    threading.Thread(target=_outlive, args=(psutil.Process(os.getppid()),), daemon=True).start()


def jobs_of_none(folder: Path) -> list[psutil.Process]:
    """Return the jobs in `folder`, on this machine, whose Snakemake has ended; only suspended jobs stay long."""
    return [one for one in psutil.process_iter() if _is_orphan(one, folder)]


def _is_orphan(process: psutil.Process, folder: Path) -> bool:
    try:
        name = process.environ().get(NAME, "")
        return (
            _is_here(name)
            and _process(name) is None
            and process.status() != psutil.STATUS_ZOMBIE
            and Path(process.cwd()).samefile(folder)
        )
    except (psutil.Error, OSError):  # the process has ended, or belongs to another user
        return False


def _identity(process: int) -> str:
    """Return the identity of a process: machine, number and start.  Raises OSError if the process has ended."""
    here = machine()
    try:
        # psutil's creation time is not used, because it changes with the clock.
        start = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2]
        return f"{here} {process} {start.split()[19]}"
    except FileNotFoundError:
        return f"{here} {process} {psutil.Process(process).create_time():.0f}"


def _named() -> psutil.Process | None:
    """Return the Snakemake that the environment names, if it runs on this machine."""
    return _process(os.environ[NAME]) if is_job() else None


def _process(identity: str) -> psutil.Process | None:
    """Return the process with an identity of this machine, or None if it has ended."""
    with suppress(psutil.Error, OSError, IndexError, ValueError):
        process = int(identity.split(" ")[1])
        if _identity(process) == identity:
            return psutil.Process(process)
    return None


def _above() -> psutil.Process | None:
    return next(filter(_is_snakemake, psutil.Process().parents()[:NEAREST]), None)


def _is_snakemake(process: psutil.Process) -> bool:
    try:
        return any(Path(word).name == "snakemake" for word in process.cmdline()[:4])
    except psutil.Error:  # the process has ended by now, or belongs to another user
        return False


def _outlive(process: psutil.Process) -> None:
    """Wait for the end of `process`, then end this process at once, like a kill."""
    with suppress(psutil.NoSuchProcess):  # it may end between the two calls
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(PERIOD)
    _end()


def _end() -> None:
    """End this process with a line on stderr and, if this is another file, in the job's log."""
    line = f"process {os.getpid()} ends: who started it is gone; run again\n".encode()
    with suppress(Exception):  # the process ends in any case
        os.write(2, line)
    with suppress(Exception):
        write_to_log(line)
    os._exit(1)


def write_to_log(line: bytes) -> None:
    """Append a line to this job's log, unless stderr is that file."""
    log = _log()
    if log is not None and not (log.exists() and os.path.samestat(os.fstat(2), log.stat())):
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as file:
            file.write(line)


def _log() -> Path | None:
    """Return the log of this job: from its object `snakemake`, or from the option `--log`."""
    given = getattr(sys.modules.get("__main__"), "snakemake", None)
    if type(given).__module__.split(".")[0] == "snakemake":  # tests use another type
        return Path(given.log[0]) if len(given.log) else None
    if "--log" in sys.argv[:-1]:
        return Path(sys.argv[sys.argv.index("--log") + 1])
    return None
