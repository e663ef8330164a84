"""Time of one sentence translated alone, time of loading, and memory: each variant in a process of its own."""

import logging
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weebill.errors import InputError, placed
from weebill.evaluation.measurement import conditions
from weebill.evaluation.this_process import usable_cores
from weebill.evaluation.timing.processes import Worker, load_measured, memory
from weebill.evaluation.timing.speed import Entrant, engine_of, silent
from weebill.evaluation.timing.timer import timed

PERCENTILES = (50, 95, 99)
WARM_UP = 3  # sentences


@dataclass(frozen=True)
class Latency:
    """Figures of one variant on one core, with one thread; milliseconds are those of a sentence translated alone."""

    variant: str
    engine: str
    beam: int
    sentences: int
    mean_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    load_seconds: float  # to a translator, after libraries are imported and the runtime is compiled
    idle_mib: float  # memory of the process before loading
    peak_mib: float  # the most memory, including a batch of the longest sentences
    hardware: str
    versions: dict[str, str]


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Return mean and percentiles of times in seconds: {"mean": …, "p50": …, "p95": …, "p99": …}, in milliseconds."""
    times = [1000 * one for one in seconds]
    shares = zip(PERCENTILES, np.percentile(times, PERCENTILES), strict=True)
    return {"mean": statistics.fmean(times), **{f"p{share}": float(one) for share, one in shares}}


def measure_latency(entrants: Sequence[Entrant], sentences: Sequence[str]) -> list[Latency]:
    """Time each entrant in a fresh process.  Raises InputError if there is no sentence or a worker fails."""
    if not sentences:
        raise InputError("latency: no sentence to translate; give a test set with text")
    latencies = []
    for entrant in entrants:
        with Worker(usable_cores(1)) as worker, placed(f"latency of {entrant.variant}"):
            worker.call(_Alone, entrant)
            times = worker.call("seconds", list(sentences))
            figures = worker.call("figures", list(sentences))
        found = Latency(
            variant=entrant.variant,
            beam=entrant.search.beam,
            sentences=len(sentences),
            **{f"{name}_ms": value for name, value in milliseconds(times).items()},
            **figures,
            **conditions(),
        )
        latencies.append(found)
        logging.info(
            f"{found.variant}, {found.engine}: {found.mean_ms:.1f} ms a sentence, loaded in "
            f"{found.load_seconds:.2f} s, {found.peak_mib:.0f} MiB at most"
        )
    return latencies


class _Alone:
    """Entrant in a process of its own."""

    def __init__(self, entrant: Entrant):
        self._search = entrant.search
        translator, self._figures = load_measured(entrant.load, entrant.source)
        self._translator = silent(translator)

    def seconds(self, sentences: list[str]) -> list[float]:
        """Time each sentence translated alone, after a few that do not count."""
        search = replace(self._search, batch_size=1)
        whole = [*sentences[:WARM_UP], *sentences]
        times = [timed(self._translator.translate, [sentence], search) for sentence in whole]
        return times[-len(sentences) :]

    def figures(self, sentences: list[str]) -> dict[str, Any]:
        """Return the engine, its time of loading, and the memory, including a batch of the longest sentences."""
        longest = sorted(sentences, key=len, reverse=True)[: self._search.batch_size]
        self._translator.translate(longest, self._search)
        engine, peak = engine_of(self._translator), memory(peak=True)
        return {"engine": engine, **self._figures, "peak_mib": peak}
