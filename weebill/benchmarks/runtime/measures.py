"""Subjects of the runtime's benchmark: throughput, gains by pruning, latency, several cores, and memory."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache

from weebill.benchmarks import Row
from weebill.benchmarks.runtime.engines import (
    OPPONENT,
    Case,
    Opponent,
    Ours,
    Remote,
    Sources,
    opponents_settings,
    sentences,
    words,
)
from weebill.benchmarks.runtime.pruned import cuts
from weebill.evaluation.this_process import usable_cores
from weebill.evaluation.timing.latency import milliseconds
from weebill.evaluation.timing.processes import Worker, memory
from weebill.evaluation.timing.timer import in_turn, pinned, rates_in_turn, timed
from weebill.report.papers import load_table
from weebill_runtime.architecture import Architecture

BATCHES = (8, 16, 32, 64, 128)
# Number of sentences in trials of batch sizes and settings, and batch size in trials of settings.
TRIAL, TRIAL_BATCH = 512, 32
LATENCY_SENTENCES = 500
WINDOW, MEMORY_BATCH = 1024, 32  # lines sorted by length together; sentences per batch
UNIT = "words/s"


def against_ctranslate2(
    name: str, shape: Architecture, isa: str, count: int, rounds: int
) -> list[Row]:
    """Measure int8 with and without a shortlist against CTranslate2, and int8 against float32."""
    text = sentences(shape.vocabulary, count)
    listed, full = Case(shape), Case(shape, shortlist=False)
    settings = best_settings(listed, isa)
    with Opponent(listed, settings) as opponent, Opponent(full, settings) as unlisted, pinned():
        works = {
            "int8": work(Ours(listed, isa), text),
            "theirs": work(opponent, text),
            "float32": work(Ours(Case(shape, "float32"), isa), text),
            "int8, all pieces": work(Ours(full, isa), text),
            "theirs, all pieces": work(unlisted, text),
        }
        rates = rates_in_turn(works, words(text), rounds)
    int8, theirs, float32, ours_full, theirs_full = rates.values()

    def row(claim: str, ours: list[float], other: list[float], opponent: Opponent) -> Row:
        key = f"{name}, {isa}: {claim}"
        return Row.of_rounds(f"{key}, against {opponent}", ours, other, UNIT, key=key)

    gain = f"{name}, {isa}: int8 against float32"
    return [
        row("int8 with shortlist", int8, theirs, opponent),
        row("int8, all pieces", ours_full, theirs_full, unlisted),
        Row.of_rounds(gain, int8, float32, UNIT, printed_int8(name)),
    ]


def against_unpruned(
    name: str, shape: Architecture, isa: str, count: int, rounds: int
) -> list[Row]:
    """Measure the papers' pruned shapes in float32 and int8 against the unpruned one in float32."""
    text = sentences(shape.vocabulary, count)
    pruned = [(cut, precision) for cut in cuts(name, shape) for precision in cut.faster]
    if not pruned:
        return []
    with pinned():
        cases = [Case(shape, "float32")]
        cases += [Case(cut.architecture, precision) for cut, precision in pruned]
        works = [work(Ours(case, isa), text) for case in cases]
        unpruned, *rates = rates_in_turn(dict(enumerate(works)), words(text), rounds).values()
    return [
        Row.of_rounds(
            f"{name}, {isa}: {cut.recipe} in {precision} against unpruned in float32",
            rate,
            unpruned,
            UNIT,
            cut.faster[precision],
        )
        for (cut, precision), rate in zip(pruned, rates, strict=True)
    ]


def printed_int8(name: str) -> float | None:
    """Return the speed of int8 relative to float32 in WNGT20's table 3; None if the table has no such student."""
    rates = {
        row["precision"].split("-")[0]: float(row["wps_1core"])
        for row in load_table("wngt20", 3).to_dict("records")
        if row["model"] == name and row["wps_1core"]
    }
    return rates["8bit"] / rates["float32"] if rates else None


def latency(name: str, shape: Architecture, isa: str, count: int, rounds: int) -> list[Row]:
    """Measure mean and percentiles over at most 500 sentences; the ratio is our time / CTranslate2's time."""
    text = sentences(shape.vocabulary, min(count, LATENCY_SENTENCES))
    case = Case(shape)
    with Opponent(case, best_settings(case, isa)) as opponent, pinned():
        engines: dict[str, Ours | Remote] = {"ours": Ours(case, isa), "theirs": opponent}
        for engine in engines.values():
            engine.prepare(text, 1)
            engine.translate()
        found = in_turn({name: one.translate for name, one in engines.items()}, rounds)
        rival = str(opponent)
    sides = [list(map(milliseconds, times)) for times in found.values()]
    return [
        Row.of_rounds(
            f"{name}, {isa}: int8 with shortlist, {figure} latency, against {rival}",
            *([one[figure] for one in side] for side in sides),
            unit="ms",
            key=f"{name}, {isa}: {figure} latency",
        )
        for figure in sides[0][0]
    ]


def several_cores(name: str, shape: Architecture, isa: str, count: int, rounds: int) -> list[Row]:
    """Measure int8 with a shortlist: 2, 4, … and all cores against one core, and all against CTranslate2 on all.

    With only one core there are no rows.  Workers have one thread each; those that a round does not use wait.
    """
    cores = usable_cores()
    if len(cores) == 1:
        return []
    text, case = sentences(shape.vocabulary, count), Case(shape)
    settings = best_settings(case, isa)
    with ExitStack() as stack:
        ours = [stack.enter_context(Remote([core])) for core in cores]
        theirs = [stack.enter_context(Opponent(case, settings, [core])) for core in cores]
        for one in ours:
            one.call(Ours, case, isa)
        counts = doublings(len(cores))
        works: dict[object, Callable[[], None]]
        works = {number: _divided(ours[:number], text) for number in counts}
        works["theirs"] = _divided(theirs, text)
        rates = rates_in_turn(works, words(text), rounds)
    claim = f"{name}, {isa}: int8 with shortlist"
    rows = [
        Row.of_rounds(f"{claim}, {number} cores against one", rates[number], rates[1], UNIT)
        for number in counts[1:]
    ]
    claim += f", against {OPPONENT}, {len(cores)} cores each"
    return [*rows, Row.of_rounds(claim, rates[len(cores)], rates["theirs"], UNIT)]


def doublings(limit: int) -> list[int]:
    """Return 1, 2, 4, … below `limit`, and `limit`."""
    return [*(2**power for power in range((limit - 1).bit_length())), limit]


def growth(name: str, shape: Architecture, isa: str, count: int, rounds: int) -> list[Row]:
    """Measure int8 with a shortlist once: MiB after 1/10 and all of the lines, against MiB after 1/100."""
    with Worker() as worker:
        worker.call(Stream, Case(shape), isa)
        first, *later = ((lines, worker.call("go_on", lines)) for lines in milestones(count))
    claim = f"{name}, {isa}: int8 with shortlist, memory after"
    return [
        Row.of_rounds(f"{claim} {lines:,} lines against {first[0]:,}", [found], [first[1]], "MiB")
        for lines, found in later
    ]


def milestones(count: int) -> list[int]:
    """Return a hundredth, a tenth and all of `count` lines, rounded to whole windows, without repeats."""
    windows = [max(1, round(count * share / WINDOW)) for share in (0.01, 0.1, 1)]
    return [WINDOW * number for number in dict.fromkeys(windows)]


class Stream:
    """Network that translates new lines all the time."""

    def __init__(self, case: Case, isa: str):
        self._engine, self._done = Ours(case, isa), 0
        self._vocabulary = case.architecture.vocabulary

    def go_on(self, until: int) -> float:
        """Translate until `until` lines are done; return the MiB of the process."""
        while self._done < until:
            self._engine.prepare(sentences(self._vocabulary, WINDOW, seed=self._done), MEMORY_BATCH)
            self._engine.translate()
            self._done += WINDOW
        return memory()


@cache
def best_settings(case: Case, isa: str) -> dict[str, str]:
    """Return the environment in which CTranslate2 is fastest, among those allowed by our instruction set."""
    trial = sentences(case.architecture.vocabulary, TRIAL)

    def seconds(settings: dict[str, str]) -> float:
        with Opponent(case, settings) as opponent:
            opponent.prepare(trial, TRIAL_BATCH)
            return min(sum(opponent.translate()) for _ in range(3))

    return min(opponents_settings(isa), key=seconds)


def best_size(engine: Ours | Remote, text: Sources) -> int:
    """Return the fastest batch size for sentences of medium length, which are as similar as in a real batch."""
    order = sorted(text, key=len, reverse=True)
    first = max(0, (len(order) - TRIAL) // 2)
    trial = order[first : first + TRIAL]

    def seconds(size: int) -> float:
        engine.prepare(trial, size)
        engine.translate()
        return timed(engine.translate)

    return min(BATCHES, key=seconds)


def work(engine: Ours | Remote, text: Sources) -> Callable[[], object]:
    """Return a function that translates everything once, in batches of the best size."""
    engine.prepare(text, best_size(engine, text))
    return engine.translate


def _divided(workers: Sequence[Remote], text: Sources) -> Callable[[], None]:
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
