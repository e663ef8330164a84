"""Translation speed: source words per second on one core and on all, variants interleaved.

Each core has one worker process, pinned to it, with one thread.  On one core a single worker translates
the text while the others wait; on all cores the text is split into as many pieces as there are workers
(WNGT20 §5.3).  A round measures every variant once, and each round begins with another variant, so that a
disturbance of the machine, or its warming up, falls on all of them alike.
"""

import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from goldcrest.errors import InputError
from goldcrest.evaluation.measurement import software_versions
from goldcrest.files import read_json

if TYPE_CHECKING:
    from goldcrest.translation.search import SearchOptions

ENGINE = "PyTorch reference"  # what runs the models


class Translates(Protocol):
    """What is timed."""

    def translate(self, sentences: list[str], options: "SearchOptions") -> list[str]:
        """One translation per sentence."""


@dataclass(frozen=True)
class Entrant:
    """One variant to time: how to load it in a worker, and its search."""

    variant: str
    load: Callable[[Any], Translates]  # a function of a module, since worker processes import it
    source: Any  # its argument: a model folder, or several of an ensemble
    search: "SearchOptions"  # the one whose translations are scored: other options take other time


@dataclass(frozen=True)
class Speed:
    """Times of one variant over all rounds; words are the text's source words between spaces."""

    variant: str
    engine: str
    beam: int
    batch_size: int
    cores: int
    sentences: int
    words: int
    seconds: list[float]  # one per round
    words_per_second: float  # median of the rounds
    slowest: float
    fastest: float
    hardware: str
    versions: dict[str, str]

    def to_dict(self) -> dict:
        """The speed as plain values, ready for JSON."""
        return asdict(self)


def measure_speed(
    entrants: Sequence[Entrant],
    sentences: Sequence[str],
    *,
    rounds: int,
    cores: int,
    report: Callable[[str], None] = lambda line: None,
) -> list[Speed]:
    """Time every entrant on one core and, where there are more, on `cores` cores.

    Loading and a warm-up batch are not timed.  `report` is given a line of progress per timing.
    Raises InputError where there is nothing to translate or a worker fails.
    """
    words = sum(len(sentence.split()) for sentence in sentences)
    if not words:
        raise InputError("speed: no words to translate; give a test set with text")
    available = sorted(os.sched_getaffinity(0))[:cores]
    settings = sorted({1, len(available)})
    seconds: dict[tuple[str, int], list[float]] = {
        (entrant.variant, count): [] for entrant in entrants for count in settings
    }
    with _workers(available) as workers:
        for number in range(rounds):
            for entrant in _rotate(entrants, number):
                for count in settings:
                    taken = _time(workers[:count], entrant, sentences)
                    seconds[entrant.variant, count].append(taken)
                    report(
                        f"round {number + 1} of {rounds}: {entrant.variant}, {count} cores: "
                        f"{words / taken:.0f} words/s"
                    )
    return [
        _speed(entrant, count, seconds[entrant.variant, count], sentences, words)
        for entrant in entrants
        for count in settings
    ]


def split(sentences: Sequence[str], pieces: int) -> list[list[str]]:
    """A text in contiguous pieces of equal length, the first ones longer by one where it does not divide."""
    size, longer = divmod(len(sentences), pieces)
    bounds = [i * size + min(i, longer) for i in range(pieces + 1)]
    return [list(sentences[a:b]) for a, b in pairwise(bounds)]


def hardware() -> str:
    """The processor's name and the number of cores this process may use."""
    name = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break
    count = len(os.sched_getaffinity(0))
    return f"{name}, {count} core{'s' if count > 1 else ''}"


def _speed(entrant, count, seconds, sentences, words) -> Speed:
    rates = [words / taken for taken in seconds]
    return Speed(
        variant=entrant.variant,
        engine=ENGINE,
        beam=entrant.search.beam,
        batch_size=entrant.search.batch_size,
        cores=count,
        sentences=len(sentences),
        words=words,
        seconds=seconds,
        words_per_second=statistics.median(rates),
        slowest=min(rates),
        fastest=max(rates),
        hardware=hardware(),
        versions=software_versions(),
    )


def _rotate(entrants: Sequence[Entrant], by: int) -> list[Entrant]:
    by %= len(entrants)
    return [*entrants[by:], *entrants[:by]]


def _time(workers, entrant: Entrant, sentences: Sequence[str]) -> float:
    """Wall seconds from the first worker's start to the last one's end, models loaded and warm."""
    pieces = split(sentences, len(workers))
    for worker, piece in zip(workers, pieces, strict=True):
        worker.send(("load", entrant, piece))
    for worker in workers:
        _answer(worker, entrant)
    start = time.perf_counter()
    for worker in workers:
        worker.send(("translate",))
    for worker in workers:
        _answer(worker, entrant)
    return time.perf_counter() - start


def _answer(worker, entrant: Entrant) -> None:
    try:
        failure = worker.recv()
    except EOFError:
        failure = "the worker process ended (out of memory?)"
    if failure:
        raise InputError(f"speed of {entrant.variant}: {failure}")


@contextmanager
def _workers(cores: Sequence[int]):
    """One pinned process per core, as connections to talk to them."""
    context = multiprocessing.get_context("spawn")
    connections, processes = [], []
    # Thread pools are sized when the worker imports its libraries, so before any of its code runs.
    before = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    os.environ.update(dict.fromkeys(before, "1"))
    try:
        for core in cores:
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, core), daemon=True)
            process.start()
            theirs.close()
            connections.append(ours)
            processes.append(process)
        _restore(before)
        yield connections
    finally:
        _restore(before)
        for connection in connections:
            connection.close()
        for process in processes:
            process.join(timeout=5)
            if process.is_alive():
                process.terminate()


def _restore(environment: Mapping[str, str | None]) -> None:
    for name, value in environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _work(connection, core: int) -> None:
    """A worker: loads an entrant with its piece of the text, then translates it, on command."""
    os.sched_setaffinity(0, {core})
    import torch

    torch.set_num_threads(1)
    translator, piece, search, loaded = None, [], None, None
    while True:
        try:
            command = connection.recv()
        except EOFError:
            return
        try:
            if command[0] == "load":
                _, entrant, piece = command
                search = entrant.search
                if loaded != entrant.variant:
                    translator = None  # free the last model before the next one is read
                    translator = entrant.load(entrant.source)
                    loaded = entrant.variant
                translator.translate(piece[: search.batch_size], search)
            else:
                count = len(translator.translate(piece, search))
                if count != len(piece):
                    raise InputError(f"{count} translations of {len(piece)} sentences")
            connection.send(None)
        except Exception as error:
            connection.send(f"{type(error).__name__}: {error}")


def read_speeds(path: str | Path) -> list[Speed]:
    """The speeds of a speed file."""
    return [Speed(**row) for row in read_json(path)]
