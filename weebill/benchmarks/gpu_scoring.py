"""Sentences per second of a COMET encoder on a GPU: ours against transformers' on the same sentences.

Both read the distinct sentences in order of length, in batches of the same number of pieces, in bfloat16 on a GPU.
Ours returns each sentence's vector, a mix of all layers; transformers' returns the last layer's first state.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import XLMRobertaConfig, XLMRobertaModel

from weebill.benchmarks.gpu_workload import seconds
from weebill.benchmarks.metric.checkpoint import HYPERPARAMETERS, SHAPES, SHARED
from weebill.evaluation.timing.timer import in_turn
from weebill.kernels.cuda import avoid_slow_attention
from weebill.metric.architecture import Architecture
from weebill.metric.network import MetricNetwork
from weebill.metric.reader import BATCH_PIECES, PRECISIONS, Reader, precision_on

PIECES = 250_002  # pieces of XLM-R
PAD = 1  # XLM-R's padding piece
FIRST = 5  # first piece that is not special
LONGEST = 200  # pieces of a synthetic sentence


def measure(
    device: str,
    rounds: int,
    shape: str | Mapping[str, Any] = "large",
    segments: int | Sequence[Sequence[int]] = 8814,
) -> dict[str, Any]:
    """Time both encoders with random weights, interleaved, after an untimed pass of each.

    shape: one of `SHAPES`, or values of an XLMRobertaConfig.  segments: pieces of the sentences, or the number of
    random sentences with the lengths of news.

    Returns medians over rounds in sentences/s (`ours`, `transformers`), the median of the rounds' ratios (`ratio`)
    and its bounds, the seconds of our first pass in this process (`first_s`), the largest difference of a vector's
    numbers to float32 and their standard deviation, on up to 64 sentences, and the setting.
    """
    place = torch.device(device)
    texts = random_pieces(segments) if isinstance(segments, int) else list(segments)
    precision = precision_on(place, "auto")
    network = _network(SHAPES[shape] if isinstance(shape, str) else shape, place)
    metric = SimpleNamespace(
        name="random", network=network, tokenizer=SimpleNamespace(pad=PAD), longest=LONGEST
    )
    ours = Reader(metric, precision, place)
    encoder = network.encoder.to(PRECISIONS[precision])
    budget = BATCH_PIECES[place.type]
    read = partial(_vectors, ours, texts)
    first: list[np.ndarray] = []
    ours_first = seconds(lambda: first.append(read()), device)
    theirs = _every_attention()(partial(library_states, encoder, texts, budget))
    theirs()
    measures = {
        "ours": partial(seconds, read, device),
        "transformers": partial(seconds, theirs, device),
    }
    taken = in_turn(measures, rounds)
    ratios = [other / own for own, other in zip(*taken.values(), strict=True)]
    some = range(0, len(texts), -(-len(texts) // 64))
    exact = _vectors(Reader(metric, "float32", place), [texts[row] for row in some])
    return {
        "device": torch.cuda.get_device_name(place) if place.type == "cuda" else place.type,
        "precision": precision,
        "shape": shape if isinstance(shape, str) else dict(shape),
        "segments": len(texts),
        "pieces": sum(map(len, texts)),
        "rounds": rounds,
        **{name: len(texts) / statistics.median(each) for name, each in taken.items()},
        "ratio": statistics.median(ratios),
        "lowest": min(ratios),
        "highest": max(ratios),
        "first_s": ours_first,
        "largest_difference": float(np.abs(first[0][list(some)] - exact).max()),
        "deviation": float(exact.std()),
    }


def random_pieces(count: int) -> list[list[int]]:
    """Draw sentences of random pieces, with special pieces at both ends and the lengths of news, 34 on average."""
    draw = np.random.default_rng(1)
    lengths = np.exp(draw.normal(3.35, 0.6, count)).clip(4, LONGEST).astype(int)
    return [[0, *draw.integers(FIRST, PIECES, size - 2).tolist(), 2] for size in lengths]


@torch.inference_mode()
def library_states(
    encoder: XLMRobertaModel, texts: Sequence[Sequence[int]], budget: int
) -> np.ndarray:
    """Return the last state (d,) of each sentence's first piece, in padded batches of at most `budget` pieces."""
    device = encoder.device
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    longest = [len(texts[row]) for row in order]
    found = []
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and longest[end] * (end + 1 - begin) <= budget:
            end += 1
        rows = [torch.tensor(texts[row]) for row in order[begin:end]]
        pieces = pad_sequence(rows, batch_first=True, padding_value=PAD)
        mask = (pieces != PAD).long()
        given = (one.to(device, non_blocking=True) for one in (pieces, mask))
        found.append(encoder(*given).last_hidden_state[:, 0])
        begin = end
    states = torch.empty(len(texts), found[0].shape[1])
    states[order] = torch.cat(found).float().cpu()
    return states.numpy()


def _network(values: Mapping[str, Any], device: torch.device) -> MetricNetwork:
    """Make a network on the device, and draw its random weights there."""
    config = XLMRobertaConfig(vocab_size=PIECES, **{**SHARED, **values})
    architecture = Architecture.from_hyperparameters(HYPERPARAMETERS, "hparams.yaml")
    torch.manual_seed(1)
    with device:
        encoder = XLMRobertaModel(config, add_pooling_layer=False)
        return MetricNetwork(architecture, encoder).eval()


def _vectors(reader: Reader, texts: Sequence[Sequence[int]]) -> np.ndarray:
    return np.stack([one.vector for one in reader.read(texts, lambda sentences: None)])


@contextmanager
def _every_attention() -> Iterator[None]:
    """Let the library choose among all of PyTorch's kernels, which is its default."""
    torch.backends.cuda.enable_cudnn_sdp(True)
    try:
        yield
    finally:
        avoid_slow_attention()
