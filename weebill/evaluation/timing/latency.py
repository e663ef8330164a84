"""Time of one sentence translated alone, time of loading, and memory: each variant in a process of its own."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weebill.errors import InputError
from weebill.evaluation.cores import usable_cores
from weebill.evaluation.measurement import hardware, software_versions
from weebill.evaluation.record import Record
from weebill.evaluation.timing.processes import Footprint, Worker
from weebill.evaluation.timing.speed import Entrant, engine_of, silent
from weebill.evaluation.timing.timer import timed

PERCENTILES = (50, 95, 99)
WARM_UP = 3  # sentences


@dataclass(frozen=True)
class Latency(Record):
    """Figures of one variant on one core, with one thread.

    Milliseconds are those of a sentence translated alone, over all sentences.  load_seconds: from the folder to a
    translator, after libraries are imported and the runtime is compiled.  peak_mib: the most memory of the process,
    including a batch of the longest sentences.  idle_mib: its memory before loading.
    """

    variant: str
    engine: str
    beam: int
    sentences: int
    mean_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    load_seconds: float
    idle_mib: float
    peak_mib: float
    hardware: str
    versions: dict[str, str]


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Return mean and percentiles of times in seconds: {"mean": …, "p50": …, "p95": …, "p99": …}, in milliseconds."""
    times = [1000 * one for one in seconds]
    found = np.percentile(times, PERCENTILES)
    shares = {f"p{share}": float(one) for share, one in zip(PERCENTILES, found, strict=True)}
    return {"mean": statistics.fmean(times), **shares}


def measure_latency(
    entrants: Sequence[Entrant],
    sentences: Sequence[str],
    *,
    report: Callable[[str], None] = lambda line: None,
) -> list[Latency]:
    """Load every entrant in a fresh process, let it translate each sentence alone, then the longest in a batch.

    `report` is called with a line of progress per entrant.  Raises InputError if there is no sentence or a worker
    fails.
    """
    if not sentences:
        raise InputError("latency: no sentence to translate; give a test set with text")
    found = []
    for entrant in entrants:
        with Worker(usable_cores(1)) as worker:
            try:
                worker.make(_Alone, entrant)
                times = worker.call("seconds", list(sentences))
                others = worker.call("figures", list(sentences))
            except InputError as error:
                raise InputError(f"latency of {entrant.variant}: {error}") from error
        figures = {f"{name}_ms": value for name, value in milliseconds(times).items()}
        found.append(
            Latency(
                variant=entrant.variant,
                beam=entrant.search.beam,
                sentences=len(sentences),
                hardware=hardware(),
                versions=software_versions(),
                **figures,
                **others,
            )
        )
        report(
            f"{entrant.variant}, {found[-1].engine}: {found[-1].mean_ms:.1f} ms a sentence, loaded in "
            f"{found[-1].load_seconds:.2f} s, {found[-1].peak_mib:.0f} MiB at most"
        )
    return found


class _Alone:
    """Entrant in a process of its own."""

    def __init__(self, entrant: Entrant):
        self._search, self._footprint = entrant.search, Footprint()
        self._translator = silent(self._footprint.load(entrant.load, entrant.source))

    def seconds(self, sentences: list[str]) -> list[float]:
        """Time each sentence translated alone, after a few that are not counted."""
        search = replace(self._search, batch_size=1)
        whole = [*sentences[:WARM_UP], *sentences]
        times = [timed(self._translator.translate, [sentence], search) for sentence in whole]
        return times[-len(sentences) :]

    def figures(self, sentences: list[str]) -> dict[str, Any]:
        """Return the engine, its time of loading, and the memory, including a batch of the longest sentences."""
        longest = sorted(sentences, key=len, reverse=True)[: self._search.batch_size]
        self._translator.translate(longest, self._search)
        return {"engine": engine_of(self._translator), **self._footprint.figures()}
