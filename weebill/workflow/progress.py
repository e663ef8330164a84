"""Progress of a job, which it reports to the display of the run by a small file.

The display makes the folder `FOLDER` where Snakemake runs, also on a cluster, whose machines share the disk.  A job
replaces its own file there at most once a second.  Without the folder there is no display, and nothing is written.
Only the standard library is needed, because jobs run in several environments.
"""

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

FOLDER = Path(".snakemake/weebill_progress")
FILE = "WEEBILL_PROGRESS"  # environment variable: the job's file, for all processes of the job
PERIOD = 1.0  # seconds between two replacements


@dataclass(frozen=True)
class Progress:
    """Number of finished units and of all units in a job's current stage; total: None if unknown.

    unit: plural noun.  notes: further values, in words.  left: remaining seconds of the stage, None if unknown.
    """

    done: int
    total: int | None
    unit: str
    notes: str = ""
    left: float | None = None


@dataclass
class _Stage:
    """Stage that this process reported last: its first progress, and the times of the first and the last report."""

    first: Progress
    began: float
    told: float


_stages: dict[str, _Stage] = {}  # the current stage, by the job's file


def file_of(log: str | Path) -> Path:
    """Return the file for the progress of the job with this log."""
    return FOLDER / f"{hashlib.sha256(str(log).encode()).hexdigest()[:16]}.json"


def listen(log: str | Path) -> Path:
    """Make the folder for the progress of jobs, and remove the progress of a killed job with this log.

    Runs of several experiments share the folder.  Returns its absolute path, for its removal.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    file_of(log).unlink(missing_ok=True)
    return FOLDER.absolute()


@contextmanager
def telling(log: str | Path) -> Iterator[None]:
    """Let a job, the block, report its progress if there is a display; remove its file at the end."""
    if FOLDER.is_dir():
        os.environ[FILE] = str(file_of(log).absolute())
    try:
        yield
    finally:
        with suppress(KeyError, OSError):
            Path(os.environ.pop(FILE)).unlink(missing_ok=True)


def tell(done: int, total: int | None, unit: str, notes: str = "") -> None:
    """Report the progress of the job, if there is a display; never raise an error.

    A new stage begins when `unit` or `total` changes or `done` decreases; its remaining time is estimated from its
    speed in this process.  Call this function in only one process of a job, as often as you like.
    """
    path = os.environ.get(FILE)
    if path is None:
        return
    now, progress = time.monotonic(), Progress(done, total, unit, notes)
    stage = _stages.get(path)
    if (
        stage is None
        or (unit, total) != (stage.first.unit, stage.first.total)
        or done < stage.first.done
    ):
        stage = _stages[path] = _Stage(progress, now, now - PERIOD)
    if now - stage.told < PERIOD and done != total:
        return
    stage.told = now
    if total is not None and done > stage.first.done:
        each = (now - stage.began) / (done - stage.first.done)
        progress = replace(progress, left=max(0, total - done) * each)
    with suppress(OSError):  # the disk is full, or the display has ended
        partial = f"{path}.{os.getpid()}"
        Path(partial).write_text(json.dumps(asdict(progress)), encoding="utf-8")
        os.replace(partial, path)


def counter(total: int | None, unit: str, done: int = 0) -> Callable[[int], None]:
    """Return a thread-safe function that adds its argument to the finished units and reports the sum."""
    lock = threading.Lock()

    def add(count: int) -> None:
        nonlocal done
        with lock:
            done += count
            tell(done, total, unit)

    tell(done, total, unit)
    return add


def read(log: str | Path) -> Progress | None:
    """Return the last progress that the job with this log reported; None if there is none."""
    try:
        return Progress(**json.loads(file_of(log).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # no report yet, or one of another version
        return None
