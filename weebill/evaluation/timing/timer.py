"""Timer of all measurements: subjects are measured in turn, so that disturbances affect all of them alike."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

Key, Figure = TypeVar("Key"), TypeVar("Figure")
Clock = Callable[[], float]  # seconds
Work = Callable[[], object]


@contextmanager
def pinned() -> Iterator[None]:
    """Keep this process on one of the processors it may use."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, [max(before)])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch to one thread."""
    import torch  # slow to import, and not every benchmark needs it

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def timed(work: Callable[..., object], *arguments, clock: Clock = time.perf_counter) -> float:
    """Call `work` once and return the seconds that it took."""
    start = clock()
    work(*arguments)
    return clock() - start


def in_turn(
    measures: Mapping[Key, Callable[[], Figure]],
    rounds: int,
    *,
    uncounted: int = 0,
    told: Callable[[str, Key, Figure], None] = lambda place, key, figure: None,
) -> dict[Key, list[Figure]]:
    """Measure everything once in each round; return the figures of each measure, one per round.

    Each round begins with another measure, so that none always profits from the state of the machine.
    uncounted: warm-up rounds before the `rounds` that count.
    told: called with "round 2 of 3", the key and the figure after each measure that counts.
    """
    keys = list(measures)
    figures: dict[Key, list[Figure]] = {key: [] for key in keys}
    for number in range(uncounted + rounds):
        for turn in range(len(keys)):
            key = keys[(turn + number + uncounted) % len(keys)]
            figure = measures[key]()
            if number >= uncounted:
                figures[key].append(figure)
                told(f"round {number - uncounted + 1} of {rounds}", key, figure)
    return figures


def seconds_in_turn(
    works: Mapping[Key, Work], rounds: int, clock: Clock = time.perf_counter
) -> dict[Key, list[float]]:
    """Time pieces of work in turn, pinned to one core, after a warm-up round; return the seconds of each round."""
    with pinned():
        measures = {key: partial(timed, work, clock=clock) for key, work in works.items()}
        return in_turn(measures, rounds, uncounted=1)


def rates_in_turn(
    works: Mapping[Key, Work], amount: float, rounds: int, clock: Clock = time.perf_counter
) -> dict[Key, list[float]]:
    """Time as `seconds_in_turn` does; return amounts per second, if each piece of work does `amount`."""
    found = seconds_in_turn(works, rounds, clock)
    return {key: [amount / one for one in seconds] for key, seconds in found.items()}
