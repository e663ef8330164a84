"""Milliseconds of a sentence translated alone: mean and percentiles, in turn with CTranslate2."""

from weebill.benchmarks import Row
from weebill.benchmarks.runtime.engines import Engine, Ours
from weebill.benchmarks.runtime.throughput import Opponent, best_settings
from weebill.benchmarks.runtime.workload import Case, sentences
from weebill.evaluation.timing.interleaving import pinned
from weebill.evaluation.timing.latency import milliseconds
from weebill.experiment.shapes import Architecture

SENTENCES = 500


def measure(name: str, shape: Architecture, isa: str, count: int, rounds: int) -> list[Row]:
    """Mean and percentiles over at most 500 of the sentences; the ratio is the share of CTranslate2's time."""
    text = sentences(shape.vocabulary, min(count, SENTENCES))
    case = Case(shape)
    with Opponent(case, best_settings(case, isa)) as opponent, pinned():
        engines: list[Engine] = [Ours(case, isa), opponent]
        for engine in engines:
            engine.prepare(text, 1)
            engine.translate()
        found = [[milliseconds(one.translate()) for one in engines] for _ in range(rounds)]
        rival = str(opponent)
    return [
        Row.of_rounds(
            f"{name}, {isa}: int8 with shortlist, {figure} latency, against {rival}",
            [ours[figure] for ours, _ in found],
            [theirs[figure] for _, theirs in found],
            "ms",
        )
        for figure in found[0][0]
    ]
