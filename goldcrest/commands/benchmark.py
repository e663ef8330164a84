"""Measure a speed claim of the project again: ours and an opponent, in turn, pinned to the same core."""

import argparse
import importlib
import json
import os
import pkgutil
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from goldcrest.commands import benchmarks
from goldcrest.commands.arguments import positive

HELP = "measure a speed claim against an opponent"


@dataclass(frozen=True)
class Row:
    """One claim: medians over rounds of ours and the opponent's, in `unit`; ratio = ours / other."""

    claim: str
    ours: float
    other: float
    unit: str
    rounds: int
    ratio: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratio", self.ours / self.other)


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
    ours: Callable[[], float], other: Callable[[], float], rounds: int
) -> tuple[float, float]:
    """Median rates of two pieces of work that are timed in turn, after one round that is not counted.

    Each function does its work once and returns how much it was (pairs, tokens, operations).
    Returns (ours, other) per second.  Both run pinned to the same core, and who goes first changes
    from round to round, so that neither profits from the state of the machine.
    """
    rates: dict[Callable[[], float], list[float]] = {ours: [], other: []}
    with pinned():
        for number in range(rounds + 1):
            for work in (ours, other) if number % 2 else (other, ours):
                start = time.perf_counter()
                amount = work()
                if number:
                    rates[work].append(amount / (time.perf_counter() - start))
    return statistics.median(rates[ours]), statistics.median(rates[other])


def names() -> list[str]:
    """The benchmarks that exist: the modules of goldcrest.commands.benchmarks, each with `run(rounds)`."""
    return sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `goldcrest benchmark`."""
    parser.add_argument("name", choices=names(), metavar="NAME", help=", ".join(names()))
    parser.add_argument("--rounds", type=positive, default=5, metavar="N", help="default 5")
    parser.add_argument("--json", action="store_true", help="a JSON list, one object a claim")


def run(arguments: argparse.Namespace) -> int:
    """Run one benchmark and print its rows."""
    module = importlib.import_module(f"goldcrest.commands.benchmarks.{arguments.name}")
    rows: list[Row] = module.run(arguments.rounds)
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return 0
    for row in rows:
        print(
            f"{row.claim}: {row.ours:,.4g} against {row.other:,.4g} {row.unit}, "
            f"ratio {row.ratio:.2f} (medians of {row.rounds} rounds)"
        )
    return 0
