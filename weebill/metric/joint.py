"""Scores of models that encode the texts of a segment together: UniTE, CometKiwi (Rei et al. 2022), XCOMET.

A segment with source and reference is read three times, as [translation; source], [translation; reference] and all
three; with one of them, once.  The formulas and their constants are those of unbabel-comet 2.2.7.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from weebill.metric.architecture import XCOMET, Architecture
from weebill.metric.folder import Metric
from weebill.metric.overlap import in_parts
from weebill.metric.reader import SEGMENTS, Progress, Reader, Reading

LABEL_SHARES = (0.1667, 0.3333, 0.5)  # weights of the three readings in the labels' probabilities
SCORE_SHARES = (0.12, 0.33, 0.33)  # weights of the three readings in XCOMET's score
MQM_SHARE = 0.22  # weight of the errors found in XCOMET's score
PENALTIES = {"minor": 1, "major": 5, "critical": 10}
MOST = 25  # largest sum of penalties
# unbabel-comet's names of the readings' scores.
PARTS = ("src_scores", "ref_scores", "unified_scores")

Place = tuple[str, int]  # name and line of a text, for messages


class Segment(NamedTuple):
    """Translation with its source, its reference, or both."""

    mt: str
    src: str | None
    ref: str | None

    def readings(self) -> list[tuple[str, ...]]:
        """Return the sequences of texts in which the segment is read."""
        if self.src is None or self.ref is None:
            return [tuple(one for one in self if one is not None)]
        return [(self.mt, self.src), (self.mt, self.ref), (self.mt, self.src, self.ref)]


Placed = tuple[Segment, Place]  # segment, and the place of its translation


class Judged(NamedTuple):
    """Score of a segment, its parts by unbabel-comet's names, and its errors; None if the model finds no errors."""

    score: float
    parts: dict[str, float]
    errors: list[dict[str, Any]] | None


class _Text(NamedTuple):
    """Pieces of a text without special ones, their number before any cut, and places of all pieces in the text."""

    pieces: list[int]
    full: int
    places: list[tuple[int, int]]


class Joined(NamedTuple):
    """Different sequences of pieces to read, and the row of each by its texts.

    first: number of pieces of BERT's first type in each sequence; None for models with one type.
    cuts: place of each segment whose texts are cut, and its number of pieces.
    """

    sequences: list[list[int]]
    rows: dict[tuple[str, ...], int]
    texts: dict[str, _Text]
    first: list[int] | None
    cuts: list[tuple[Place, int]]


def join(metric: Metric, segments: Sequence[Placed]) -> Joined:
    """Join the texts of segments."""
    joint, tokenizer = metric.network.architecture.joint, metric.tokenizer
    texts = _encoded(metric, (text for one, _ in segments for text in one if text is not None))
    begin, end = tokenizer.encode([""], 2)[0][0]
    separator, most = [end] * joint.separators, metric.longest + 2
    sequences: list[list[int]] = []
    rows: dict[tuple[str, ...], int] = {}
    cuts: list[tuple[Place, int]] = []
    for segment, place in segments:
        longest, cut = 0, False
        for key in segment.readings():
            own, joined = [texts[text] for text in key], [begin]
            for number, text in enumerate(own):
                joined += [*(separator if number else ()), *text.pieces]
            joined.append(end)
            if key not in rows:
                rows[key] = len(sequences)
                sequences.append(joined[:most])
            over = [max(0, text.full - metric.longest) for text in own]
            longest = max(longest, len(joined) + sum(over))
            cut = cut or any(over) or longest > most
        if cut:
            cuts.append((place, longest))
    first = [len(texts[mt].pieces) + 2 for mt, *_ in rows] if joint.typed else None
    return Joined(sequences, rows, texts, first, cuts)


def _encoded(metric: Metric, texts: Iterable[str]) -> dict[str, _Text]:
    """Return the pieces of different texts; a padding piece that a text contains is left out."""
    lines, tokenizer = list(dict.fromkeys(texts)), metric.tokenizer
    found = tokenizer.encode_with_places(lines, metric.longest)
    return {
        line: _Text([one for one in ids if one != tokenizer.pad][1:-1], full, places)
        for line, ids, full, places in zip(lines, *found, strict=True)
    }


class JointScorer:
    """Scorer of segments.

    Texts that are cut are logged with the place of their segment's translation; of the segments that are joined at
    once all, or with `log_first` the first.
    """

    def __init__(self, metric: Metric, reader: Reader, *, log_first: bool = False) -> None:
        self._metric, self._reader, self._logged = metric, reader, 1 if log_first else None
        self._architecture = metric.network.architecture
        self._labelled = self._architecture.joint.word_layer is not None

    def judge(self, segments: Mapping[Segment, Place], progress: Progress) -> dict[Segment, Judged]:
        """Judge different segments, each with the place of its translation."""
        found = {}
        begin = partial(self._begin, progress=progress)
        kind = self._reader.device.type
        for some in in_parts(list(segments.items()), partial(join, self._metric), begin, kind):
            found |= some
        return found

    def _begin(
        self, segments: Sequence[Placed], joined: Joined, progress: Progress
    ) -> Callable[[], dict[Segment, Judged]]:
        """Begin to read segments; return a function that waits for their results."""
        longest = self._metric.longest
        message = "%s:%d: %d pieces with its source or reference; the metric reads %d of a text, %d together"
        for place, pieces in joined.cuts[: self._logged]:
            logging.warning(message, *place, pieces, longest, longest + 2)
        finish = self._reader.begin(joined.sequences, progress, joined.first)
        return lambda: self._judged(segments, joined, finish())

    def _judged(
        self, segments: Sequence[Placed], joined: Joined, readings: Sequence[Reading]
    ) -> dict[Segment, Judged]:
        scores, judged = self._estimates(readings), {}
        for segment, _ in segments:
            own = [joined.rows[key] for key in segment.readings()]
            errors = None
            if self._labelled:
                logits = [readings[row].logits for row in own]
                errors = self._errors(joined.texts[segment.mt], joined.sequences[own[0]], logits)
            judged[segment] = judged_of(self._architecture, scores[own], errors)
        return judged

    def _estimates(self, readings: Sequence[Reading]) -> np.ndarray:
        found = []
        for start in range(0, len(readings), SEGMENTS):
            part = np.stack([one.vector for one in readings[start : start + SEGMENTS]])
            with torch.inference_mode():
                vectors = torch.from_numpy(part).to(self._reader.device)
                found.append(self._reader.estimate(vectors).cpu().numpy())
        return np.concatenate(found)

    def _errors(
        self, text: _Text, sequence: list[int], logits: Sequence[Tensor]
    ) -> list[dict[str, Any]]:
        """Return the errors of a translation from the logits of its readings, which begin with its pieces."""
        count = min(len(text.places), len(sequence))
        each = [one[:count].softmax(1) for one in logits]
        if len(each) > 1:
            each = [one * share for one, share in zip(each, LABEL_SHARES, strict=True)]
        shares = torch.stack(each).sum(0)
        spans = error_spans(shares, text.places, self._architecture.joint.severities)
        decode = self._metric.tokenizer.decode
        return [
            {
                "text": decode(sequence[pieces.start : pieces.stop]),
                "confidence": confidence,
                "severity": severity,
                "start": start,
                "end": end,
            }
            for pieces, severity, confidence, (start, end) in spans
        ]


def error_spans(
    shares: Tensor, places: Sequence[tuple[int, int]], severities: Sequence[str]
) -> list[tuple[range, str, float, tuple[int, int]]]:
    """Return runs of pieces whose likeliest label is an error, as unbabel-comet decodes them.

    shares: (pieces, labels), no error first.  A run has the severity of its first piece, the mean of its pieces'
    largest shares as confidence, and begin and end in the text.  A run that reaches the last piece is left out.
    """
    largest, labels = shares.max(1)
    found, begin = [], None
    for number, label in enumerate(labels.tolist()):
        if label and begin is None:
            begin = number
        elif not label and begin is not None:
            severity = severities[labels[begin] - 1]
            confidence = largest[begin:number].mean().item()
            where = places[begin][0], places[number - 1][1]
            found.append((range(begin, number), severity, confidence, where))
            begin = None
    return found


def judged_of(
    architecture: Architecture, scores: np.ndarray, errors: list[dict[str, Any]] | None
) -> Judged:
    """Return a segment's result from the float32 scores of its readings: one, or all three."""
    parts = {}
    if len(scores) > 1:
        parts = {name: float(score) for name, score in zip(PARTS, scores, strict=True)}
    if architecture.kind != XCOMET:
        return Judged(float(scores.mean()), parts, errors)
    bounded = np.minimum(scores, np.float32(1))
    parts = parts or {PARTS[0]: float(bounded[0])}
    penalty = min(MOST, sum(PENALTIES[one["severity"]] for one in errors or ()))
    parts["mqm_scores"] = (MOST - penalty) / MOST
    if len(scores) > 1:
        regression = sum(
            share * float(score) for share, score in zip(SCORE_SHARES, bounded, strict=True)
        )
    else:
        regression = sum(SCORE_SHARES) * float(bounded[0])
    return Judged(regression + MQM_SHARE * parts["mqm_scores"], parts, errors)
