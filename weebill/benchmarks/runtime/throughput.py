"""Source words per second on one core: against CTranslate2, against float32, and against unpruned shapes."""

from collections.abc import Callable
from functools import cache

from weebill.benchmarks import Row
from weebill.benchmarks.runtime.engines import (
    CTranslate2,
    Engine,
    Ours,
    Remote,
    opponents_settings,
)
from weebill.benchmarks.runtime.pruned import cuts
from weebill.benchmarks.runtime.workload import Case, Sources, sentences, words
from weebill.evaluation.this_process import usable_cores
from weebill.evaluation.timing.timer import pinned, rates_in_turn, timed
from weebill.experiment.shapes import Architecture
from weebill.report.papers import load_table

BATCHES = (8, 16, 32, 64, 128)
# Sentences of the trials that choose batch sizes and settings; batch size of the latter.
TRIAL, TRIAL_BATCH = 512, 32
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
    start = f"{name}, {isa}"
    return [
        Row.of_rounds(
            f"{start}: int8 with shortlist, against {opponent}",
            int8,
            theirs,
            UNIT,
            key=f"{start}: int8 with shortlist",
        ),
        Row.of_rounds(
            f"{start}: int8, all pieces, against {unlisted}",
            ours_full,
            theirs_full,
            UNIT,
            key=f"{start}: int8, all pieces",
        ),
        Row.of_rounds(f"{start}: int8 against float32", int8, float32, UNIT, printed_int8(name)),
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
    rows = load_table("wngt20", 3)
    rates = {
        precision.split("-")[0]: float(rate)
        for model, precision, rate in zip(
            rows["model"], rows["precision"], rows["wps_1core"], strict=True
        )
        if model == name and rate
    }
    return rates["8bit"] / rates["float32"] if rates else None


class Opponent(Remote):
    """CTranslate2 in a process on this process's core; settings: its environment variables."""

    def __init__(self, case: Case, settings: dict[str, str]):
        super().__init__([max(usable_cores())], variables=settings)
        self.settings, self._size = settings, 0
        self.call(CTranslate2, case)

    def prepare(self, text: Sources, size: int) -> None:
        """Implement `Engine`."""
        self._size = size
        super().prepare(text, size)

    def __str__(self) -> str:
        library = "MKL" if self.settings["CT2_USE_MKL"] == "1" else "oneDNN"
        return f"CTranslate2 ({self.settings['CT2_FORCE_CPU_ISA']}, {library}, batch {self._size})"


@cache
def best_settings(case: Case, isa: str) -> dict[str, str]:
    """Return the environment in which CTranslate2 is fastest, among those that our instruction set allows."""
    trial = sentences(case.architecture.vocabulary, TRIAL)

    def seconds(settings: dict[str, str]) -> float:
        with Opponent(case, settings) as opponent:
            opponent.prepare(trial, TRIAL_BATCH)
            return min(sum(opponent.translate()) for _ in range(3))

    return min(opponents_settings(isa), key=seconds)


def best_size(engine: Engine, text: Sources) -> int:
    """Return the fastest batch size.

    The trial takes sentences from the middle of the text by length: their lengths are as similar as those in a
    batch of the whole text.
    """
    order = sorted(text, key=len, reverse=True)
    first = max(0, (len(order) - TRIAL) // 2)
    trial = order[first : first + TRIAL]

    def seconds(size: int) -> float:
        engine.prepare(trial, size)
        engine.translate()
        return timed(engine.translate)

    return min(BATCHES, key=seconds)


def work(engine: Engine, text: Sources) -> Callable[[], object]:
    """Return a function that translates everything once, in batches of the best size."""
    engine.prepare(text, best_size(engine, text))
    return engine.translate
