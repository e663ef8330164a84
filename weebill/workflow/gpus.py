"""Distribution of this machine's GPUs to jobs, by locks that end with the process.

A card's lock is a file that the job holds by `flock`, so a killed job returns its card.  CUDA_VISIBLE_DEVICES names
the chosen cards before anything touches a GPU, also for the processes that the job starts.  For a job that Snakemake
submits to a cluster, the scheduler chooses the cards; in an interactive allocation, jobs share its cards by locks.
WEEBILL_GPUS names the cards to choose from (`WEEBILL_GPUS=0,1,3`); by default these are the cards in
CUDA_VISIBLE_DEVICES, or all.  A card that is named N times serves N jobs at once.
"""

import ctypes
import fcntl
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from weebill.errors import InputError
from weebill.workflow.parent_watch import write_to_log

CHOICE = "WEEBILL_GPUS"  # environment variable: cards to choose from
TAKEN = "WEEBILL_GPUS_TAKEN"  # environment variable: cards of this job, for the processes that it starts
VISIBLE = "CUDA_VISIBLE_DEVICES"
FOLDER = "WEEBILL_GPU_LOCKS"  # environment variable: folder of the locks, the same for all users
PERIOD = 0.5  # seconds between two searches for a free card
SUBMITTED = "WEEBILL_SUBMITTED"  # variable that is set for jobs that Snakemake submits to a cluster
SCHEDULERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID")  # their variables
_held: list[int] = []  # open locks; they last as long as the process


def leave_to_scheduler() -> None:
    """Leave the choice of cards to the scheduler, for all jobs of this process: a Snakemake in a submitted job."""
    os.environ[SUBMITTED] = "1"


def take_gpus(count: int) -> list[str]:
    """Wait until `count` GPUs are free, take them for this process and its child processes, and return their names.

    Take nothing if a scheduler chose the cards, an ancestor process took them for this job, or there is no GPU.
    Raises InputError if the machine has fewer than `count`.
    """
    if not count or TAKEN in os.environ or (SUBMITTED in os.environ and _allocation()):
        return []
    cards = known_gpus()
    if not cards:
        return []
    if count > len(set(cards)):
        raise InputError(
            f"hardware.devices: a job needs {count} GPUs, and there are {len(set(cards))} here "
            f"({', '.join(cards)}); lower it, or name more in {CHOICE}"
        )
    taken = _wait(cards, count)
    os.environ[VISIBLE] = os.environ[TAKEN] = ",".join(taken)
    return taken


def known_gpus() -> list[str]:
    """Return the names of the cards to choose from: those in the environment, or else the numbers of all."""
    for name in (CHOICE, VISIBLE):
        if name in os.environ:
            given = os.environ[name].split(",")
            return [card.strip() for card in given if card.strip() not in ("", "-1")]
    return [str(number) for number in range(_count())]


def _allocation() -> list[str]:
    """Return the number of the scheduler's job that this process is in, if any."""
    return [os.environ[name] for name in SCHEDULERS if name in os.environ][:1]


def _count() -> int:
    """Return the number of NVIDIA cards that this process may use, from the driver's library NVML."""
    with suppress(OSError, AttributeError):
        library, count = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_uint()
        if library.nvmlInit_v2() == 0:
            found = library.nvmlDeviceGetCount_v2(ctypes.byref(count))
            library.nvmlShutdown()
            if found == 0:
                return count.value
    return len(list(Path("/dev").glob("nvidia[0-9]*")))


def _wait(cards: Sequence[str], count: int) -> list[str]:
    """Try to lock `count` of the cards until this succeeds; log once that the job waits."""
    folder, told = _folder(), False
    # Cards that several jobs may share are filled evenly.
    places = sorted((cards[:place].count(card), place) for place, card in enumerate(cards))
    files = [(cards[place], f"{cards[place].replace('/', '-')}.{turn}") for turn, place in places]
    while True:
        door = _lock(folder / "choosing", wait=True)  # else two jobs could each hold some and wait
        taken = _take(folder, files, count)
        os.close(door)
        if taken:
            return taken
        if not told:
            line = f"waits for {count} of the GPUs {', '.join(cards)}, which other jobs use\n"
            write_to_log(line.encode())
            told = True
        time.sleep(PERIOD)


def _take(folder: Path, files: Sequence[tuple[str, str]], count: int) -> list[str]:
    """Lock `count` different free cards and return them; lock none, and return none, if fewer are free."""
    taken: dict[str, int] = {}
    for card, name in files:
        if card not in taken and (lock := _lock(folder / name)) is not None:
            taken[card] = lock
        if len(taken) == count:
            _held.extend(taken.values())
            return list(taken)
    for lock in taken.values():
        os.close(lock)
    return []


def _lock(path: Path, wait: bool = False) -> int | None:
    """Lock a file for this process and return its descriptor; None if another process holds it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    with suppress(PermissionError):  # another user's file, already writable by all
        os.fchmod(lock, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _folder() -> Path:
    """Make and return the folder of the locks; two allocations may give the same number to different cards."""
    name = "-".join(["weebill-gpus", *_allocation()])
    folder = Path(os.environ.get(FOLDER) or Path(tempfile.gettempdir(), name))
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(PermissionError):  # another user's folder
        folder.chmod(0o777)
    return folder
