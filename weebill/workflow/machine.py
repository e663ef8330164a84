"""Cores and memory of this machine that its processes may use, less than all of them in a container."""

import os
from collections.abc import Iterator
from pathlib import Path

import psutil

SYSTEM = Path("/")  # where Linux shows its control groups


def cores(system: Path = SYSTEM) -> int:
    """Return the number of cores that this process may use at once, at least 1."""
    quotas = [int(quota) for quota in _quotas(system)]
    return max(1, min([len(os.sched_getaffinity(0)), *quotas]))


def memory(system: Path = SYSTEM) -> int:
    """Return the bytes of memory that this process may use."""
    limits = _values(system, "memory.max"), _values(system, "memory.limit_in_bytes", "memory")
    numbers = [int(words[0]) for found in limits for words in found if words[0] != "max"]
    return min([psutil.virtual_memory().total, *numbers])


def _quotas(system: Path) -> Iterator[float]:
    """Yield the cores that control groups grant, each as a mean over time."""
    for quota, period in _values(system, "cpu.max"):
        if quota != "max":
            yield int(quota) / int(period)
    quotas = _values(system, "cpu.cfs_quota_us", "cpu")
    for (quota,), (period,) in zip(
        quotas, _values(system, "cpu.cfs_period_us", "cpu"), strict=True
    ):
        if int(quota) > 0:
            yield int(quota) / int(period)


def _values(system: Path, name: str, controller: str = "") -> Iterator[list[str]]:
    """Yield the words of a file of this process's control group and of each above, as far as they are shown.

    controller: of the first version of control groups, in which each has a tree of its own.
    """
    try:
        lines = (system / "proc/self/cgroup").read_text().splitlines()
    except OSError:  # not Linux, or hidden
        return
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if controller in controllers.split(","):
            tree = system / "sys/fs/cgroup" / controller
            place = tree / path.lstrip("/")  # in a container, perhaps a path of the machine outside
            for folder in [place, *place.parents]:
                if (folder / name).is_file():
                    yield (folder / name).read_text().split()
                if folder == tree:
                    break
