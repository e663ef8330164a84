"""Processor time of metrics by numbers of systems, segments and candidates, all in turn on one core.

COMETINHO's figures 1, 2, 3 and 7 show the same for a GPU.
"""

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from weebill.errors import InputError
from weebill.evaluation.measurement import conditions
from weebill.evaluation.timing.timer import Work, one_thread, seconds_in_turn
from weebill.experiment.metrics import CACHED, OURS_WAY, PLAIN, SORTED, SORTED_CACHED
from weebill.metric.folder import Metric
from weebill.metric.lexical import lexical_scores
from weebill.metric.mbr import MetricUtility, decode, varied
from weebill.metric.reference_scorer import PlainScorer
from weebill.metric.scorer import Scorer
from weebill.text_files import read_lines

SHARES = (0.25, 0.5, 0.75, 1.0)  # of the segments


@dataclass(frozen=True)
class Text:
    """Test set and the translations of several systems, with one line per segment each."""

    sources: Sequence[str]
    references: Sequence[str] | None
    systems: Mapping[str, Sequence[str]]

    @classmethod
    def read(
        cls,
        sources: str | Path,
        references: str | Path | None,
        systems: Sequence[str | Path],
        segments: int | None = None,
    ) -> "Text":
        """Read files with one line per segment; segments: number to keep, evenly spaced; None: all.

        Raises InputError if a file has no lines or another number than the sources, or if a system is named twice.
        """
        if repeated := [path for path in systems if systems.count(path) > 1]:
            message = f"{repeated[0]}: named twice; leave one out, or one system stands for two"
            raise InputError(message)
        whole = list(read_lines(sources))
        if not whole:
            raise InputError(f"{sources}: has no lines; name a file of source sentences")
        count = min(segments or len(whole), len(whole))

        def read(path: str | Path) -> list[str]:
            lines = list(read_lines(path))
            if len(lines) != len(whole):
                message = f"{path}: {len(lines):,} lines, and {sources} has {len(whole):,}; give one line per segment"
                raise InputError(message)
            return [lines[index * len(whole) // count] for index in range(count)]

        return cls(
            read(sources),
            None if references is None else read(references),
            {str(path): read(path) for path in systems},
        )

    def candidates(self, sources: int, count: int) -> list[tuple[str, list[str]]]:
        """Return the first `sources` sources with `count` translations each, made from the given ones (`varied`)."""
        others = [] if self.references is None else [self.references]
        columns = zip(*others, *self.systems.values(), strict=True)
        chosen = islice(zip(self.sources, columns, strict=True), sources)
        return [(source, varied(translations, count)) for source, translations in chosen]

    def first(self, systems: int, segments: int | None = None) -> "Text":
        """Return the part of the first systems and segments."""
        return Text(
            self.sources[:segments],
            None if self.references is None else self.references[:segments],
            {name: lines[:segments] for name, lines in list(self.systems.items())[:systems]},
        )


@dataclass(frozen=True)
class MetricSpeed:
    """Seconds of one way to score, or to choose among, an amount of text."""

    study: str  # systems, segments, candidates
    metric: str
    way: str  # scorer and its precision
    amount: int  # number of systems, segments or candidates
    seconds: list[float]  # one per round
    median: float
    hardware: str
    versions: dict[str, str]


def measure_metrics(
    metrics: Mapping[str, Metric],
    text: Text,
    candidates: Sequence[tuple[str, Sequence[str]]],
    counts: Sequence[int],
    *,
    precision: str,
    rounds: int,
) -> list[MetricSpeed]:
    """Time every metric by our scorer, and the first one by the reference scorer too, which sorts and caches or not.

    candidates: (source, translations), with as many translations as the largest of `counts`.
    """
    (first, whole), *_ = metrics.items()
    scorers = {name: Scorer(metric, precision) for name, metric in metrics.items()}
    plain = [
        (first, PLAIN, PlainScorer(whole)),
        (first, SORTED, PlainScorer(whole, sort=True)),
        (first, CACHED, PlainScorer(whole, cache=True)),
        (first, SORTED_CACHED, PlainScorer(whole, sort=True, cache=True)),
    ]
    ours = [(name, f"{OURS_WAY}, {scorer.precision}", scorer) for name, scorer in scorers.items()]
    works: dict[tuple[str, str, str, int], Work] = {}
    for count in range(1, len(text.systems) + 1):
        part = text.first(count)
        for name, way, scorer in plain + ours:
            works["systems", name, way, count] = partial(_score, scorer, part)
        if part.references is not None:
            works["systems", "BLEU", "sacreBLEU", count] = partial(_bleu, part)
    for share in SHARES:
        count = max(1, int(share * len(text.sources)))
        part = text.first(1, count)
        for name, way, scorer in plain + ours[:1]:
            works["segments", name, way, count] = partial(_score, scorer, part)
    for name, way, scorer in ours:
        for count in counts:
            works["candidates", name, way, count] = partial(_choose, scorer, candidates, count)
    with one_thread():
        times = seconds_in_turn(works, rounds, clock=time.process_time)
    return [
        MetricSpeed(*work, seconds, statistics.median(seconds), **conditions())
        for work, seconds in times.items()
    ]


def _score(scorer: Scorer | PlainScorer, text: Text) -> None:
    sources = text.sources if scorer.needs_sources else None
    scorer.score(text.systems, sources, text.references if scorer.needs_references else None)


def _bleu(text: Text) -> None:
    for lines in text.systems.values():
        lexical_scores("BLEU", lines, text.references or ())


def _choose(scorer: Scorer, candidates: Sequence[tuple[str, Sequence[str]]], count: int) -> None:
    utility = MetricUtility(scorer)
    for source, some in candidates:
        decode(source, some[:count], utility)
