"""Cores of the processor that measurements use and name."""

import os


def usable_cores(limit: int | None = None) -> list[int]:
    """Return the cores that this process may use, at most `limit`."""
    return sorted(os.sched_getaffinity(0))[:limit]
