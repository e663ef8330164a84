"""Translation speed: source words per second on one core and on all, variants interleaved.

Each core has one worker process, pinned to it, with one thread.  On one core a single worker translates the text
while the others wait; on all cores the text is split into as many pieces as there are workers (WNGT20 §5.3).  The
fastest variants are then also timed in fewer processes with more threads.
"""

import logging
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from weebill.corpus.cleaning import writing_systems
from weebill.errors import InputError, placed
from weebill.evaluation.measurement import conditions
from weebill.evaluation.this_process import usable_cores
from weebill.evaluation.timing.processes import Worker, pool
from weebill.evaluation.timing.timer import in_turn, timed
from weebill.kernels.extension import PORTABLE

if TYPE_CHECKING:
    from weebill_runtime.options import SearchOptions

PYTORCH = "PyTorch reference"
RUNTIME = "Weebill runtime"  # followed by its instruction set in brackets


@dataclass(frozen=True)
class Entrant:
    """Variant to time: a function that loads it in a worker, and its search.

    A translator has a method `translate` of sentences and the search.  A translator of the runtime has attributes
    `isa` and `shortlist`, and its `load` accepts a number of `threads`; one of PyTorch uses its process's threads.
    """

    variant: str
    load: Callable[[Any], Any]  # a function of a module, because worker processes import it
    source: Any  # its argument: a model folder, or several of an ensemble
    search: "SearchOptions"  # of the translations that are scored; other options take other times


@dataclass(frozen=True)
class Speed:
    """Timings of one variant over all rounds; words are the text's source words, as `count_words` counts them.

    characters: of the text, white space excepted, if it is written without spaces; otherwise 0.
    """

    variant: str
    engine: str
    beam: int
    batch_size: int
    processes: int  # that share the text
    threads: int  # of each process, with a core for each of them
    sentences: int
    words: int
    seconds: list[float]  # one per round
    words_per_second: float  # median of the rounds
    slowest: float
    fastest: float
    hardware: str
    versions: dict[str, str]
    characters: int = 0

    @property
    def characters_per_second(self) -> float:
        """Characters, of a text without spaces, in the median round."""
        return self.words_per_second * self.characters / self.words

    @property
    def cores(self) -> int:
        """Number of cores at work."""
        return self.processes * self.threads

    @property
    def by_runtime(self) -> bool:
        """True if the runtime translated, not the PyTorch reference."""
        return self.engine.startswith(RUNTIME)


def measure_speed(
    entrants: Sequence[Entrant],
    sentences: Sequence[str],
    *,
    rounds: int,
    cores: int,
    least_seconds: float = 0.0,
    shared: bool = True,
) -> list[Speed]:
    """Time every entrant on one core and, if there are more, on `cores` cores.

    least_seconds: shortest timing.  A text that takes less is translated several times, for about this long in all,
    and the mean counts; a timing of a twentieth of a second would depend more on the machine than on the entrant.

    shared: also time the fastest entrant of the runtime and the fastest of PyTorch on all cores by fewer processes
    with more threads.  Loading and a warm-up batch are not timed.
    Raises InputError if there is nothing to translate or a worker fails.
    """
    if not count_words(sentences):
        raise InputError("speed: no words to translate; give a test set with text")
    available = usable_cores(cores)
    given = sentences, rounds, available, least_seconds
    speeds = _speeds(entrants, *given, counts=sorted({1, len(available)}), threads=1)
    alone = list(zip(speeds[:: len(speeds) // len(entrants)], entrants, strict=True))
    compiled = [one for one in alone if one[0].by_runtime and PORTABLE not in one[0].engine]
    for kind in (compiled, [one for one in alone if one not in compiled]):
        for processes in fewer(len(available)) if kind and shared else ():
            entrant = max(kind, key=lambda one: one[0].words_per_second)[1]
            threads = len(available) // processes
            if kind is compiled:
                entrant = replace(entrant, load=partial(entrant.load, threads=threads))
            speeds += _speeds([entrant], *given, counts=[processes], threads=threads)
    return speeds


def _speeds(
    entrants: Sequence[Entrant],
    sentences: Sequence[str],
    rounds: int,
    cores: list[int],
    least_seconds: float,
    counts: Sequence[int],
    threads: int,
) -> list[Speed]:
    """Time each entrant by each number of processes in `counts`, with `threads` threads each."""
    words = count_words(sentences)

    def told(place: str, index: int, found: dict[int, tuple[str, float]]) -> None:
        for count, (engine, taken) in found.items():
            logging.info(
                f"{place}: {entrants[index].variant}, {engine}, {count} x {threads} cores: "
                f"{words / taken:.0f} words/s"
            )

    def measure(index: int) -> dict[int, tuple[str, float]]:
        given = entrants[index], index, sentences, least_seconds
        return {count: _time(workers[:count], *given) for count in counts}

    with pool(cores, max(counts), threads) as workers:
        for worker in workers:
            worker.call(_Loaded)
        measures = {index: partial(measure, index) for index in range(len(entrants))}
        found = in_turn(measures, rounds, told=told)
    speeds = []
    for (entrant, by_round), count in product(zip(entrants, found.values(), strict=True), counts):
        engines, seconds = zip(*(one[count] for one in by_round), strict=True)
        rates = [words / taken for taken in seconds]
        speeds.append(
            Speed(
                variant=entrant.variant,
                engine=engines[-1],
                beam=entrant.search.beam,
                batch_size=entrant.search.batch_size,
                processes=count,
                threads=threads,
                sentences=len(sentences),
                words=words,
                seconds=list(seconds),
                words_per_second=statistics.median(rates),
                slowest=min(rates),
                fastest=max(rates),
                characters=count_unspaced(sentences),
                **conditions(),
            )
        )
    return speeds


def fewer(cores: int) -> list[int]:
    """Return the proper divisors of `cores`, largest first: numbers of processes that get several cores each."""
    return [count for count in range(cores - 1, 0, -1) if cores % count == 0]


def count_words(sentences: Sequence[str]) -> int:
    """Count the words between spaces; letters of scripts without spaces count as words."""
    return sum(map(writing_systems.count_words, sentences))


def count_unspaced(sentences: Sequence[str]) -> int:
    """Count the characters of a text whose words are mostly letters without spaces; 0 for other text."""
    between_spaces = sum(len(sentence.split()) for sentence in sentences)
    if count_words(sentences) <= 2 * between_spaces:
        return 0
    return sum(len("".join(sentence.split())) for sentence in sentences)


def split(sentences: Sequence[str], pieces: int) -> list[list[str]]:
    """Split a text into contiguous pieces of equal length; the first ones have one more sentence if needed."""
    size, longer = divmod(len(sentences), pieces)
    bounds = [i * size + min(i, longer) for i in range(pieces + 1)]
    return [list(sentences[a:b]) for a, b in pairwise(bounds)]


def engine_of(translator: Any) -> str:
    """Return the name of a translator's engine, which mentions a shortlist if there is one."""
    isa = getattr(translator, "isa", None)
    if isa is None:
        return PYTORCH
    return f"{RUNTIME} ({isa})" if translator.shortlist is None else f"{RUNTIME} ({isa}, shortlist)"


def _time(
    workers: list[Worker],
    entrant: Entrant,
    number: int,
    sentences: Sequence[str],
    least_seconds: float,
) -> tuple[str, float]:
    """Time warm workers that share a text; return the engine, and the wall time of one translation in seconds."""

    def translate(times: int) -> None:
        for worker in workers:
            worker.start("translate", times)
        for worker in workers:
            worker.answer()

    with placed(f"speed of {entrant.variant}"):
        for worker, piece in zip(workers, split(sentences, len(workers)), strict=True):
            worker.start("warm", entrant, number, piece)
        engines = [worker.answer() for worker in workers]
        taken = timed(translate, 1)
        if taken < least_seconds:
            times = math.ceil(least_seconds / taken)
            taken = timed(translate, times) / times
        return engines[0], taken


class _Loaded:
    """Entrant in a worker, with its piece of the text."""

    def __init__(self):
        self._number = self._translator = None

    def warm(self, entrant: Entrant, number: int, piece: list[str]) -> str:
        """Load an entrant unless its number is loaded; translate one batch of a piece; return the engine."""
        if number != self._number:
            self._translator = None  # free it first
            self._translator = silent(entrant.load(entrant.source))
        self._number, self._search, self._piece = number, entrant.search, piece
        self._translator.translate(piece[: self._search.batch_size], self._search)
        return engine_of(self._translator)

    def translate(self, times: int) -> None:
        """Translate the piece `times` times."""
        for _ in range(times):
            count = len(self._translator.translate(self._piece, self._search))
            if count != len(self._piece):
                raise InputError(f"{count} translations of {len(self._piece)} sentences")


def silent(translator: Any) -> Any:
    """Stop a translator's warnings of cut sentences, which would repeat in every round; return the translator."""
    from weebill_runtime.options import ignore_cut  # imports PyTorch

    translator.on_cut = ignore_cut
    return translator
