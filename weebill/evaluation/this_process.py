"""This process: the cores that it may use, and its environment."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


def usable_cores(limit: int | None = None) -> list[int]:
    """Return the cores that this process may use, at most `limit`."""
    return sorted(os.sched_getaffinity(0))[:limit]


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables within the block."""
    before = {name: os.environ[name] for name in values if name in os.environ}
    os.environ.update(values)
    try:
        yield
    finally:
        for name in values.keys() - before.keys():
            os.environ.pop(name, None)
        os.environ.update(before)
