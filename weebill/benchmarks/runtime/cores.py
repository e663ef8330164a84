"""Throughput of several cores: one process on each, and the text divided among them."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from weebill.benchmarks import Row
from weebill.benchmarks.runtime.engines import CTranslate2, Ours, Remote
from weebill.benchmarks.runtime.throughput import (
    UNIT,
    best_settings,
    best_size,
)
from weebill.benchmarks.runtime.workload import Case, Sources, sentences, words
from weebill.evaluation.this_process import usable_cores
from weebill.evaluation.timing.timer import rates_in_turn
from weebill.experiment.shapes import Architecture


def measure(name: str, shape: Architecture, isa: str, count: int, rounds: int) -> list[Row]:
    """Measure int8 with a shortlist: 2, 4, … and all cores against one, and all against CTranslate2 on as many.

    There are no rows if there is only one core.  Workers have one thread each; workers that a round leaves out
    wait.
    """
    cores = usable_cores()
    if len(cores) == 1:
        return []
    text, case = sentences(shape.vocabulary, count), Case(shape)
    settings = best_settings(case, isa)
    with ExitStack() as stack:
        ours = [stack.enter_context(Remote([core])) for core in cores]
        theirs = [stack.enter_context(Remote([core], variables=settings)) for core in cores]
        for one, other in zip(ours, theirs, strict=True):
            one.call(Ours, case, isa)
            other.call(CTranslate2, case)
        counts = doublings(len(cores))
        works: dict[int | str, Callable[[], None]] = {
            number: _work(ours[:number], text) for number in counts
        }
        works["theirs"] = _work(theirs, text)
        rates = rates_in_turn(works, words(text), rounds)
    claim = f"{name}, {isa}: int8 with shortlist"
    return [
        *(
            Row.of_rounds(f"{claim}, {number} cores against one", rates[number], rates[1], UNIT)
            for number in counts[1:]
        ),
        Row.of_rounds(
            f"{claim}, against CTranslate2, {len(cores)} cores each",
            rates[len(cores)],
            rates["theirs"],
            UNIT,
        ),
    ]


def doublings(limit: int) -> list[int]:
    """Return 1, 2, 4, … below `limit`, and `limit`."""
    return [*(2**power for power in range((limit - 1).bit_length())), limit]


def _work(workers: Sequence[Remote], text: Sources) -> Callable[[], None]:
    """Return a function that divides the text among the workers and translates it once."""
    size = best_size(workers[0], text)
    order = sorted(text, key=len)

    def done() -> None:
        for index, worker in enumerate(workers):
            worker.start("prepare", order[index :: len(workers)], size)
        for worker in workers:
            worker.answer()
            worker.start("translate")
        for worker in workers:
            worker.answer()

    return done
