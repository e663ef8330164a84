"""GPUs of this machine, shared out among jobs: each job takes its own, by locks that end with the process.

A card's lock is a file that the job holds by `flock`, so a killed job returns its card.  The chosen cards stand in
CUDA_VISIBLE_DEVICES before anything touches a GPU, and for the processes that the job starts.  On a cluster, the
scheduler chooses the cards.  WEEBILL_GPUS names the cards to choose from (`WEEBILL_GPUS=0,1,3`); by default they are
those of CUDA_VISIBLE_DEVICES, or all.  A card that it names several times serves that many jobs at once.
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
FOLDER = "WEEBILL_GPU_LOCKS"  # environment variable: folder of the locks, one for all users of the machine
PERIOD = 0.5  # seconds between two looks for a free card
SCHEDULERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID")  # their variables
_held: list[int] = []  # open locks; they last as long as the process


def take_gpus(count: int) -> list[str]:
    """Wait until `count` GPUs are free, and take them for this process and those that it starts; return their names.

    Nothing is taken where a scheduler chose the cards, where an ancestor took them for this job, or where there is
    no GPU.  Raises InputError if the machine has fewer than `count`.
    """
    if not count or TAKEN in os.environ or any(name in os.environ for name in SCHEDULERS):
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
    """Return the names of the cards to choose from: those that the environment names, or the numbers of all."""
    for name in (CHOICE, VISIBLE):
        if name in os.environ:
            given = os.environ[name].split(",")
            return [card.strip() for card in given if card.strip() not in ("", "-1")]
    return [str(number) for number in range(_count())]


def _count() -> int:
    """Return the number of NVIDIA's cards that this process may use, from the driver's library NVML."""
    with suppress(OSError, AttributeError):
        library, count = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_uint()
        if library.nvmlInit_v2() == 0:
            found = library.nvmlDeviceGetCount_v2(ctypes.byref(count))
            library.nvmlShutdown()
            if found == 0:
                return count.value
    return len(list(Path("/dev").glob("nvidia[0-9]*")))


def _wait(cards: Sequence[str], count: int) -> list[str]:
    """Try to lock `count` of the cards until that succeeds; the log says once that the job waits."""
    folder, told = _folder(), False
    # Cards that several jobs may share are filled evenly.
    places = sorted((cards[:place].count(card), place) for place, card in enumerate(cards))
    files = [(cards[place], f"{cards[place].replace('/', '-')}.{turn}") for turn, place in places]
    while True:
        door = _lock(folder / "choosing", wait=True)  # so that no two jobs hold a part and wait
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
    """Return the descriptor of a file that this process has locked; None if another one has."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    with suppress(PermissionError):  # another user's file, which that user opened to all
        os.fchmod(lock, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _folder() -> Path:
    """Make and return the folder of the locks."""
    folder = Path(os.environ.get(FOLDER) or Path(tempfile.gettempdir(), "weebill-gpus"))
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(PermissionError):  # another user's
        folder.chmod(0o777)
    return folder
