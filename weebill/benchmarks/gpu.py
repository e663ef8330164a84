"""Speed of training, decoding and scoring on a GPU: ours, transformers', and the share of the measured peak.

Each setting is measured separately, in rounds in which both sides take turns.  If one fails, the others are still
measured.  Settings for which no time is left are named.  On the processor everything is tiny: this rehearses the
benchmark, and its figures mean nothing.
"""

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import zip_longest
from typing import Any

import torch

from weebill.benchmarks import gpu_decoding, gpu_peak, gpu_scoring, gpu_training
from weebill.benchmarks.gpu_figures import Found, figure, line, peak_of
from weebill.evaluation.measurement import conditions
from weebill.report.rows import code_of_modules
from weebill.workflow.repository import commit

PACKAGES = ("transformers", "lightning", "numpy")  # packages whose versions are reported
PIECES = 32_000
PARTS = ("peak", "training", "decoding", "scoring")
# Settings of trainings, the most important first.
TRAININGS = [
    gpu_training.Setting("teacher_x3", PIECES, 65_536),
    gpu_training.Setting("tiny", PIECES, 65_536),
    gpu_training.Setting("base", PIECES, 65_536),
    gpu_training.Setting("tiny", PIECES, 16_384),  # the papers' batch
    gpu_training.Setting("teacher_x3", PIECES, 16_384),
    gpu_training.Setting("multi30k.teacher", 8_000, 4_096),
    gpu_training.Setting("tiny", PIECES, 4_096),
    gpu_training.Setting("base", PIECES, 16_384),
]
DECODINGS = [
    gpu_decoding.Setting("tiny", PIECES, 6_144, 512, opponent=512),
    gpu_decoding.Setting("tiny", PIECES, 8_192, 2_048),
    gpu_decoding.Setting("tiny", PIECES, 8_192, None),
    gpu_decoding.Setting("teacher_x3", PIECES, 768, 64, 6, "bfloat16", opponent=64),
    gpu_decoding.Setting("base", PIECES, 6_144, 512),
    gpu_decoding.Setting("tiny", PIECES, 3_072, 128),
    gpu_decoding.Setting("base", PIECES, 8_192, 2_048),
    gpu_decoding.Setting("teacher_x3", PIECES, 1_024, 256, 1, "bfloat16"),
]
SCORING = ("large", 8_814)  # shape of the encoder, and segments
TINY_TRAININGS = [
    gpu_training.Setting("demo.teacher", 100, 256, 200),
    gpu_training.Setting("demo.micro", 100, 512, 200),
]
TINY_DECODINGS = [
    gpu_decoding.Setting("demo.micro", 100, 8, 4, numbers="float32", opponent=4),
    gpu_decoding.Setting("demo.teacher", 100, 4, 2, 3, "float32", opponent=2),
]
TINY_SCORING = ("tiny", 16)
PEAK = (8192, 1024)  # rows of the matrices, and MiB to copy
TINY_PEAK = (64, 1)


def measure(
    device: str,
    rounds: int,
    limit: float,
    parts: Sequence[str] = PARTS,
    version: str | None = None,
    save: Callable[["Found"], None] = lambda found: None,
) -> Found:
    """Measure the parts on a device; after `limit` seconds, start no further setting.

    version: commit of the code, for a copy without git history.  save: called after each setting.
    """
    on_gpu = device.startswith("cuda")
    began = time.monotonic()
    card = torch.cuda.get_device_name() if on_gpu else conditions()["hardware"]
    code = code_of_modules(gpu=__name__)
    signature = {"commit": version or commit(), "code": code, **conditions(PACKAGES)}
    found = Found(card, f"{datetime.now(UTC):%Y-%m-%d}", signature)
    for name, work in _works(device, rounds, parts, found):
        if _since(began) > limit:
            found.left_out.append(name)
            continue
        start = time.monotonic()
        try:
            rows = list(work())
        except Exception:  # the other settings are still measured
            found.failures[name] = traceback.format_exc()
            rows = []
            print(f"{name}: failed: {found.failures[name].splitlines()[-1]}", flush=True)
        found.seconds[name] = round(_since(start), 1)
        for row in rows:
            found.rows.append(row)
            found.table.append(line(row))
            print(line(row), flush=True)
        save(found)
    return found


def _since(began: float) -> float:
    return time.monotonic() - began


def _works(
    device: str, rounds: int, parts: Sequence[str], found: Found
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the settings; trainings and decodings alternate, so that a short run has some of each."""
    on_gpu = device.startswith("cuda")
    if "peak" in parts:
        yield "peak", partial(gpu_peak.measure, device, rounds, *(PEAK if on_gpu else TINY_PEAK))
    trainings = TRAININGS if on_gpu else TINY_TRAININGS
    decodings = DECODINGS if on_gpu else TINY_DECODINGS
    for place, (training, decoding) in enumerate(zip_longest(trainings, decodings)):
        if training and "training" in parts:
            yield training.name, partial(_training, device, rounds, training, found)
        if decoding and "decoding" in parts:
            yield decoding.name, partial(_decoding, device, rounds, decoding)
        if place == 0 and "scoring" in parts:
            yield "scoring", partial(_scoring, device, rounds)


def _training(
    device: str, rounds: int, setting: gpu_training.Setting, found: Found
) -> list[dict[str, Any]]:
    return [gpu_training.measure(device, rounds, setting, peak_of(found.rows))]


def _decoding(device: str, rounds: int, setting: gpu_decoding.Setting) -> list[dict[str, Any]]:
    return [gpu_decoding.measure(device, rounds, setting)]


def _scoring(device: str, rounds: int) -> list[dict[str, Any]]:
    """Measure the encoder of a metric, in sentences per second."""
    shape, segments = SCORING if device.startswith("cuda") else TINY_SCORING
    found = gpu_scoring.measure(device, rounds, shape, segments)
    name = f"scoring {found['precision']}, {segments:,} sentences"
    row = figure("scoring", name, "sentences/s", [found["ours"]], [found["transformers"]])
    return [row | {"ratio": found["ratio"], "about": found}]
