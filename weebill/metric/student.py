"""Small metric that learns the scores of a large one on a user's text, from some of its layers (COMETINHO §5)."""

import random
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from weebill.errors import InputError
from weebill.kernels.loss_faults import check_loss
from weebill.metric.architecture import JOINED, UNIFIED, Architecture
from weebill.metric.folder import Metric
from weebill.metric.network import MetricNetwork, is_stored
from weebill.metric.reference_scorer import PlainScorer
from weebill.metric.scorer import Scorer
from weebill.settings import Count, Ge, Positive
from weebill.workflow.progress import counter

FEWEST = 40  # segments
HELD_OUT = 20  # one segment in this many is held out, within these bounds; two always correlate
LEAST_HELD_OUT, MOST_HELD_OUT = 10, 1000
WARMUP = 0.1  # share of the updates in which the learning rate grows


@dataclass(frozen=True)
class StudentSettings:
    """Shape of a student, and its training."""

    layers: Count = 6
    """Number of the teacher's layers that the student begins with, evenly spaced."""
    updates: Count = 2000
    """Updates of the training."""
    batch: Count = 16
    """Segments in an update."""
    learning_rate: Positive = 3e-5
    """Highest learning rate: it grows linearly over a tenth of the updates, and falls linearly to 0."""
    seed: Annotated[int, Ge(0)] = 1
    """Seed of the order of segments."""


@dataclass(frozen=True)
class Distilled:
    """Student, and the correlation (Pearson) of its scores with its teacher's on segments held out.

    correlation: None if all scores of one of them are equal.
    """

    metric: Metric
    held_out: int
    correlation: float | None


def distil(
    teacher: Metric, columns: Sequence[Sequence[str]], settings: StudentSettings
) -> Distilled:
    """Train a student on the teacher's scores.

    columns: texts in the order of the teacher's `Architecture.texts`, one line for each segment.
    A student has no labels, even if its teacher labels words; XCOMET's learns its whole score, as a `unified_metric`.
    Raises InputError if there are fewer than FEWEST segments, too many layers, or int8 weights.
    """
    if is_stored(teacher.network):
        raise InputError(f"{teacher.name}: its weights are int8; distil the float32 metric")
    if len(columns[0]) < FEWEST:
        message = f"{len(columns[0])} segments are too few to train on; give {FEWEST} at least"
        raise InputError(message)
    student = replace(
        teacher, name="student", network=first_student(teacher.network, settings.layers)
    )
    texts = teacher.network.architecture.texts
    given = dict(zip(texts, columns, strict=True))
    wanted = Scorer(teacher).score(
        {"translations": given["mt"]}, given.get("src"), given.get("ref"),
        progress=counter(None, "sequences scored"),
    )["translations"]  # fmt: skip
    draw = random.Random(settings.seed)
    rows = draw.sample(range(len(wanted)), len(wanted))
    held_out = min(MOST_HELD_OUT, max(LEAST_HELD_OUT, len(rows) // HELD_OUT))
    _train(student, columns, torch.from_numpy(wanted), rows[held_out:], settings, draw)
    apart = [[column[row] for row in rows[:held_out]] for column in columns]
    given = dict(zip(texts, apart, strict=True))
    # Long texts are not told again, by other lines.
    found = PlainScorer(student).score({"": given["mt"]}, given.get("src"), given.get("ref"))[""]
    pair = found, wanted[rows[:held_out]]
    defined = all(np.ptp(one) > 0 for one in pair)
    return Distilled(student, held_out, float(np.corrcoef(*pair)[0, 1]) if defined else None)


def first_student(teacher: MetricNetwork, layers: int) -> MetricNetwork:
    """Copy a teacher with some evenly spaced layers of those that it reads, the first and the last among them."""
    read = teacher.last_state()
    if layers > read:
        raise InputError(f"--layers {layers}: the teacher reads {read}; name fewer")
    kept = np.linspace(0, read - 1, layers).round().astype(int).tolist()
    if layers == 1:
        kept = [read - 1]
    network = deepcopy(teacher)
    network.encoder.encoder.layer = nn.ModuleList(network.encoder.encoder.layer[n] for n in kept)
    network.encoder.config.num_hidden_layers = layers
    network.architecture = _without_labels(teacher.architecture, kept)
    network.tagger = None
    if network.mix is not None:
        states = [0, *(number + 1 for number in kept)]
        network.mix.weights = nn.Parameter(network.mix.weights.detach()[states].clone())
    return network


def _without_labels(architecture: Architecture, kept: Sequence[int]) -> Architecture:
    """Return a student's architecture: if the teacher reads one layer, the student reads its last."""
    layer = architecture.layer if architecture.layer == "mix" else len(kept)
    if architecture.kind not in JOINED:
        return replace(architecture, layer=layer)
    joint = replace(architecture.joint, word_layer=None, severities=())
    return replace(architecture, kind=UNIFIED, layer=layer, joint=joint)


def _train(
    student: Metric,
    columns: Sequence[Sequence[str]],
    wanted: torch.Tensor,
    rows: list[int],
    settings: StudentSettings,
    draw: random.Random,
) -> None:
    """Train by the mean squared error, in place."""
    network, plain = student.network, PlainScorer(student)
    network.encoder.embeddings.requires_grad_(False)  # large, and the teacher's are good
    trained = [one for one in network.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=settings.learning_rate)
    warmup = max(1, round(WARMUP * settings.updates))

    def share(update: int) -> float:
        left = settings.updates - update
        return min((update + 1) / warmup, left / max(1, settings.updates - warmup))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    tell = counter(settings.updates, "updates")
    for number, part in enumerate(_batches(rows, settings.batch, draw)):
        if number == settings.updates:
            break
        found = plain.estimates([[column[row] for row in part] for column in columns])
        loss = functional.mse_loss(found, wanted[part])
        check_loss(loss.detach(), number + 1)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        tell(1)
    network.requires_grad_(True)


def _batches(rows: list[int], size: int, draw: random.Random) -> Iterator[list[int]]:
    """Yield batches of rows for ever, in a new order in every epoch."""
    while True:
        order = draw.sample(rows, len(rows))
        for start in range(0, len(order), size):
            yield order[start : start + size]
