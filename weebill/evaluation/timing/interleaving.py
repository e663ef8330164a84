"""Timing several things fairly: in turn, pinned to one core, so that the machine's moods fall on all alike."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def pinned() -> Iterator[None]:
    """Keep this process on one of the processors it may use, where the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, [max(before)])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch to one thread."""
    import torch  # slow to import, and not every benchmark needs it

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def interleave(
    *works: Callable[[], float], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> list[list[float]]:
    """Rates of pieces of work that are timed in turn, after one round that is not counted.

    Each function does its work once and returns how much it was (pairs, tokens, operations).
    Returns for each the amounts per second, one a round.  All run pinned to the same core, and who goes first
    changes from round to round, so that none profits from the state of the machine.  clock: what tells seconds.
    """
    rates: list[list[float]] = [[] for _ in works]
    with pinned():
        for number in range(rounds + 1):
            for turn in range(len(works)):
                index = (turn + number + 1) % len(works)
                start = clock()
                amount = works[index]()
                if number:
                    rates[index].append(amount / (clock() - start))
    return rates
