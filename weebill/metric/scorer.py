"""Fast scorer: each different sentence is encoded once, even if several systems, sources or references contain it.

Models that encode the texts of a segment together share only equal segments (`metric.joint`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from weebill.errors import InputError, nearest
from weebill.kernels.accelerator import check_device
from weebill.kernels.cuda import card_multiplies_bfloat16
from weebill.metric.architecture import RANKING, TEXTS
from weebill.metric.cache import VectorCache
from weebill.metric.folder import Metric, load_metric
from weebill.metric.joint import JointScorer, Segment
from weebill.metric.network import features, nearness
from weebill.metric.reader import PRECISIONS, SEGMENTS, Progress, Reader, precision_on
from weebill.metric.sentence_vectors import SentenceVectors, Text
from weebill.text_files import check_counts
from weebill_runtime.lines import checked_lines

Systems = Mapping[str, Iterable[str]]  # lines of translations by system
References = Iterable[str] | Mapping[str, Iterable[str]]  # lines, or several references by name


@dataclass(frozen=True)
class Judgement:
    """Scores (segments,) of a system in float32; higher is better.

    parts: parts of each segment's score, by unbabel-comet's names, averaged over several references.  errors: those
    found in each translation, in unbabel-comet's form; None if the model does not find errors.  With several
    references, all errors are listed, each with the name of its `reference`.
    """

    scores: np.ndarray
    parts: dict[str, np.ndarray] = field(default_factory=dict)
    errors: list[list[dict[str, Any]]] | None = None


class Scorer:
    """Metric prepared for scoring; weights are packed once and must not change."""

    def __init__(
        self,
        metric: Metric | str | Path,
        precision: str = "auto",
        device: str = "cpu",
        cache: VectorCache | str | Path | None = None,
        batch_pieces: int | None = None,
        *,
        stream: bool = False,
    ) -> None:
        """Pack a metric; `load_metric` reads it first if it is a folder, a checkpoint or a name on the hub.

        Args:
            metric: the metric, or its folder, checkpoint or name.  Weights of int8 folders are multiplied in
                `precision` too.
            precision: float32; bfloat16 in the encoder's products; int8 in its linear maps, on the CPU; auto: float32
                on the CPU, bfloat16 on GPUs that multiply it.
            device: "cpu", "cuda", "cuda:1", …
            cache: sentence vectors, or their file, for models that encode each sentence by itself.
            batch_pieces: bound of a batch, except for a longer sentence; None: chosen by device and precision.
            stream: read the encoder's layers from the file, one after the other, for many batches together.

        Raises:
            InputError: for an unknown precision, a missing device, int8 on a GPU, a cache for a model that encodes
                the texts of a segment together, and errors of `load_metric`.

        """
        precision = checked_precision(precision, str(device))
        self.precision, self.device = precision, torch.device(device)
        self.metric = metric if isinstance(metric, Metric) else load_metric(metric, stream=stream)
        self._architecture = self.metric.network.architecture
        self.needs_sources = "src" in self._architecture.texts
        self.needs_references = self._architecture.needs_references
        if cache is not None and self._architecture.joint is not None:
            raise InputError(
                f"{self.metric.name}: encodes the texts of a segment together, so no vectors of sentences can be "
                "kept; leave out the cache"
            )
        if isinstance(cache, str | Path):
            cache = VectorCache(cache)
        self._options = (precision, str(device), cache, batch_pieces), {"stream": stream}
        self._reader = Reader(self.metric, precision, device, batch_pieces, stream=stream)
        self.sentence_vectors = SentenceVectors(self._reader, cache)

    def __reduce__(self) -> tuple[Callable[..., "Scorer"], tuple[Any, ...]]:
        """Let a copy, also in another process, pack the weights anew."""
        options, named = self._options
        return partial(Scorer, **named), (self.metric, *options)

    def score(
        self,
        systems: Systems,
        sources: Iterable[str] | None = None,
        references: References | None = None,
        names: tuple[str, str] = ("sources", "references"),
        progress: Progress = lambda sentences: None,
    ) -> dict[str, np.ndarray]:
        """Return scores (segments,) of each system's translations, in float32; higher is better.

        Args:
            systems: lines of translations by the system's name; like sources and references, strings in any iterable.
            sources: lines of the sources, for models that read them.
            references: lines, or several references by name; then a segment's score is the mean of its scores.
            names: names of sources and references, for messages; a sentence that is cut is logged with its line.
            progress: called with the number of sequences of each encoded batch.

        Raises:
            InputError: if lines are not strings or differ in number, sources or references are missing or not
                needed, or a score is not finite.

        """
        found = self.judge(systems, sources, references, names, progress)
        return {name: one.scores for name, one in found.items()}

    def judge(
        self,
        systems: Systems,
        sources: Iterable[str] | None = None,
        references: References | None = None,
        names: tuple[str, str] = ("sources", "references"),
        progress: Progress = lambda sentences: None,
    ) -> dict[str, Judgement]:
        """Return the scores of `score`, with their parts and the errors found in each translation."""
        if not isinstance(systems, Mapping):
            raise InputError(
                f"systems: found {systems!r:.60}, expected a dictionary of lines by name: {{'one': lines}}"
            )
        source = None if sources is None else (names[0], checked_lines(names[0], sources))
        several = references if isinstance(references, Mapping) else {names[1]: references}
        others = [
            (name, checked_lines(name, own)) for name, own in several.items() if own is not None
        ]
        own = [(name, checked_lines(name, lines)) for name, lines in systems.items()]
        self._check(source, others, own)
        judge = self._by_sentences if self._architecture.joint is None else self._together
        found = judge(source, others, own, progress)
        for one in found.values():
            finite(one.scores, self.metric.name)
        return found

    def _by_sentences(
        self, source: Text, references: list[Text], systems: list[Text], progress: Progress
    ) -> dict[str, Judgement]:
        """Judge by vectors of sentences."""
        vectors, rows = self.sentence_vectors.of([source, *references, *systems], progress)
        sources, others = rows[0], rows[1 : len(references) + 1]
        found = {}
        for (name, _), own in zip(systems, rows[len(references) + 1 :], strict=True):
            with torch.inference_mode():
                each = [self._estimate(vectors, own, sources, one) for one in others]
                each = each or [self._estimate(vectors, own, sources)]
            scores, parts = zip(*each, strict=True)
            means = {key: _mean([one[key] for one in parts]) for key in parts[0]}
            found[name] = Judgement(_mean(scores), means)
        return found

    def _together(
        self, source: Text | None, references: list[Text], systems: list[Text], progress: Progress
    ) -> dict[str, Judgement]:
        """Judge by the texts of a segment, which the model encodes together."""
        places: dict[Segment, tuple[str, int]] = {}
        rows: dict[str, list[list[Segment]]] = {}  # of each system and reference
        nothing = [None] * len(systems[0][1])
        sources = nothing if source is None else source[1]
        for name, lines in systems:
            rows[name] = []
            for other in [lines for _, lines in references] or [nothing]:
                segments = list(map(Segment, lines, sources, other))
                rows[name].append(segments)
                for number, segment in enumerate(segments, start=1):
                    places.setdefault(segment, (name, number))
        judged = self.joint_scorer().judge(places, progress)
        found = {}
        for name, each in rows.items():
            own = [[judged[segment] for segment in segments] for segments in each]
            scores = _mean([np.float32([one.score for one in some]) for some in own])
            parts = {
                key: _mean([np.float32([one.parts[key] for one in some]) for some in own])
                for key in own[0][0].parts
            }
            errors = None
            if own[0][0].errors is not None:
                tags = [{"reference": name} for name, _ in references] if len(own) > 1 else [{}]
                errors = [
                    [
                        error | tag
                        for one, tag in zip(some, tags, strict=True)
                        for error in one.errors
                    ]
                    for some in zip(*own, strict=True)
                ]
            found[name] = Judgement(scores, parts, errors)
        return found

    def joint_scorer(self, *, log_first: bool = False) -> JointScorer:
        """Return the scorer of segments whose texts the model encodes together."""
        return JointScorer(self.metric, self._reader, log_first=log_first)

    def vectors(self, *texts: Text) -> list[Tensor]:
        """Return float32 sentence vectors (lines, d) of each text; a sentence that is cut is logged with its line."""
        vectors, rows = self.sentence_vectors.of(texts, lambda sentences: None)
        return [vectors[own] for own in rows]

    def _check(self, source: Text | None, references: list[Text], systems: list[Text]) -> None:
        """Raise InputError unless all texts have the same number of lines, and are those that the metric needs."""
        name, texts = self.metric.name, self._architecture.texts
        given = {"src": source is not None, "ref": bool(references)}
        for key, is_given in given.items():
            if is_given and key not in texts:
                raise InputError(f"{name}: reads no {TEXTS[key]}; leave them out")
            if not is_given and key in texts and not self._architecture.optional:
                raise InputError(f"{name}: compares with {TEXTS[key]}; give them")
        if not any(given.values()):
            raise InputError(f"{name}: compares with sources or references; give them")
        if not systems:
            raise InputError("no translations to score; name a file of them at least")
        every = [*([] if source is None else [source]), *references, *systems]
        check_counts(every)
        if not every[0][1]:
            raise InputError("the files are empty; give one segment at least")

    def _estimate(self, vectors: Tensor, *rows: Tensor) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return scores (segments,) by the rows in `vectors` of translations, sources and, if any, references.

        The second result holds the parts of a ranking model's scores.
        """
        parts = zip(*(own.split(SEGMENTS) for own in rows), strict=True)
        given = ([vectors[own] for own in part] for part in parts)
        if self._architecture.kind != RANKING:
            scores = [self._reader.estimate(features(*some)) for some in given]
            return torch.cat(scores).cpu().numpy(), {}
        found = []
        for translation, *others in given:
            distances = [functional.pairwise_distance(translation, one) for one in others]
            found.append(torch.stack([nearness(*distances), *distances]))
        scores, *distances = torch.cat(found, 1).cpu().numpy()
        return scores, dict(zip(("src_scores", "ref_scores"), distances, strict=True))


def checked_precision(wanted: str, device: str) -> str:
    """Resolve a precision for a device.  Raises InputError if it is unknown, or the device does not support it."""
    precision = precision_on(device, wanted)
    if precision not in PRECISIONS:
        message = f"precision {precision!r}, expected {', '.join(PRECISIONS)}{nearest(precision, PRECISIONS)}"
        raise InputError(message)
    if precision == "int8" and not device.startswith("cpu"):
        raise InputError(
            f"precision int8 is computed on processors, not on {device}; take bfloat16 there"
        )
    check_device(device)
    if precision == "bfloat16" and device.startswith("cuda") and not card_multiplies_bfloat16():
        raise InputError(f"precision bfloat16: the GPU {device} does not multiply it; take float32")
    return precision


def finite(scores: np.ndarray, metric: str) -> np.ndarray:
    """Return the scores unchanged.  Raises InputError if one is not finite."""
    if not np.isfinite(scores).all():
        raise InputError(
            f"{metric}: gives scores that are no numbers; the model has diverged, take another"
        )
    return scores


def _mean(each: Sequence[np.ndarray]) -> np.ndarray:
    """Return the mean of arrays of one shape; one alone is returned unchanged."""
    return each[0] if len(each) == 1 else np.mean(each, axis=0, dtype=np.float64).astype(np.float32)
