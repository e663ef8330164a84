"""Milliseconds of a sentence translated alone: mean and percentiles, in turn with CTranslate2."""

from weebill.benchmarks import Row
from weebill.benchmarks.runtime.engines import Engine, Ours
from weebill.benchmarks.runtime.throughput import Opponent, best_settings
from weebill.benchmarks.runtime.workload import Case, sentences
from weebill.evaluation.timing.latency import milliseconds
from weebill.evaluation.timing.timer import in_turn, pinned
from weebill.experiment.shapes import Architecture

SENTENCES = 500


def measure(name: str, shape: Architecture, isa: str, count: int, rounds: int) -> list[Row]:
    """Measure mean and percentiles over at most 500 sentences; the ratio is the share of CTranslate2's time."""
    text = sentences(shape.vocabulary, min(count, SENTENCES))
    case = Case(shape)
    with Opponent(case, best_settings(case, isa)) as opponent, pinned():
        engines: dict[str, Engine] = {"ours": Ours(case, isa), "theirs": opponent}
        for engine in engines.values():
            engine.prepare(text, 1)
            engine.translate()
        found = in_turn({name: one.translate for name, one in engines.items()}, rounds)
        rival = str(opponent)
    ours, theirs = (list(map(milliseconds, times)) for times in found.values())
    return [
        Row.of_rounds(
            f"{name}, {isa}: int8 with shortlist, {figure} latency, against {rival}",
            [one[figure] for one in ours],
            [one[figure] for one in theirs],
            "ms",
            key=f"{name}, {isa}: {figure} latency",
        )
        for figure in ours[0]
    ]
