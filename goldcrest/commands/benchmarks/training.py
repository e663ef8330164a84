"""Training speed as a share of what the core can multiply: float32 updates against plain matrix products.

The operations of an update are counted as it runs (matrix products of the forward and backward passes), so
embeddings, softmax, normalisation, dropout and the optimizer are time without operations.
"""

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from goldcrest.commands.benchmark import Row, interleave
from goldcrest.configuration import MODELS, load_zoo
from goldcrest.translation.architecture import Architecture
from goldcrest.translation.batches import Batch, make_batch
from goldcrest.translation.making import new_network
from goldcrest.translation.training import TrainingConfig, TranslationTask

MODELS_MEASURED = {"multi30k.teacher": 8000, "6-2.tied.tiny": 32000, "base": 32000}  # pieces
BATCH_TOKENS = 4096
LENGTH = 24  # pieces a side
MATRIX = 1024  # rows and columns of the plain products


def run(rounds: int) -> list[Row]:
    """One row a model: GFLOP/s of its training updates on one core, and of plain float32 products."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [_measure(name, pieces, rounds) for name, pieces in MODELS_MEASURED.items()]
    finally:
        torch.set_num_threads(threads)


def _measure(name: str, pieces: int, rounds: int) -> Row:
    config = TrainingConfig(batch_tokens=BATCH_TOKENS, dropout=0.1, label_smoothing=0.1)
    network = new_network(Architecture.from_zoo(load_zoo(MODELS)[name], pieces), 1, config.dropout)
    task = TranslationTask(network, config, seed=1)
    optimizer = task.configure_optimizers()
    batch = _random_batch(pieces)

    def update() -> None:
        task.loss(batch, batch.words).backward()
        optimizer.step()
        optimizer.zero_grad()
        task.smooth(1)

    with FlopCounterMode(display=False) as counter:
        update()
    operations = counter.get_total_flops() / 1e9

    left, right = torch.randn(2, MATRIX, MATRIX)
    products = max(1, round(operations / (2e-9 * MATRIX**3)))

    def ours() -> float:
        update()
        return operations

    def other() -> float:
        for _ in range(products):
            torch.mm(left, right)
        return products * 2e-9 * MATRIX**3

    rates = interleave(ours, other, rounds)
    return Row(f"training {name} against the core's float32 matrix rate", *rates, "GFLOP/s", rounds)


def _random_batch(pieces: int) -> Batch:
    """Random pieces, all sentences of one length, as length-sorted batches nearly are."""
    generator = np.random.default_rng(1)
    count = BATCH_TOKENS // (2 * LENGTH)
    source, target = generator.integers(2, pieces, (2, count, LENGTH))
    return make_batch(list(source), list(target))
