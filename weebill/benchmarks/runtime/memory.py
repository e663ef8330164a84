"""Memory over a long text, which stays flat unless there is a leak; a million lines take minutes."""

from weebill.benchmarks import Row
from weebill.benchmarks.runtime.engines import Ours
from weebill.benchmarks.runtime.workload import Case, sentences
from weebill.evaluation.this_process import usable_cores
from weebill.evaluation.timing.processes import Worker, memory
from weebill.experiment.shapes import Architecture

WINDOW, BATCH = 1024, 32  # lines sorted by length together; sentences per batch


def measure(name: str, shape: Architecture, isa: str, count: int, rounds: int) -> list[Row]:
    """Measure int8 with a shortlist: MiB after a tenth and all of the lines, against those after a hundredth.

    All lines are different.  `rounds` has no effect: one round shows growth.
    """
    with Worker([max(usable_cores())]) as worker:
        worker.call(Stream, Case(shape), isa)
        first, *later = ((lines, worker.call("go_on", lines)) for lines in milestones(count))
    return [
        Row.of_rounds(
            f"{name}, {isa}: int8 with shortlist, memory after {lines:,} lines against {first[0]:,}",
            [found],
            [first[1]],
            "MiB",
        )
        for lines, found in later
    ]


def milestones(count: int) -> list[int]:
    """Return a hundredth, a tenth and all of `count` lines, rounded to whole windows, each once."""
    windows = [max(1, round(count * share / WINDOW)) for share in (0.01, 0.1, 1)]
    return [WINDOW * number for number in dict.fromkeys(windows)]


class Stream:
    """Network that translates lines that never repeat."""

    def __init__(self, case: Case, isa: str):
        self._engine, self._vocabulary, self._done = (
            Ours(case, isa),
            case.architecture.vocabulary,
            0,
        )

    def go_on(self, until: int) -> float:
        """Translate until `until` lines are done; return the MiB of the process."""
        while self._done < until:
            self._engine.prepare(sentences(self._vocabulary, WINDOW, seed=self._done), BATCH)
            self._engine.translate()
            self._done += WINDOW
        return memory()
