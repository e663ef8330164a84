"""Training speed as a share of the core's rate of multiplication: float32 updates against plain matrix products.

Only operations of matrix products count; embeddings, softmax, normalisation, dropout and the optimizer add only time.
The core's rate is the rate of large square products by the faster library, MKL or oneDNN.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from weebill.benchmarks import Option, Row
from weebill.configuration.zoo_file import load_zoo
from weebill.evaluation.timing.timer import one_thread, seconds_in_turn, timed
from weebill.kernels.cpu_matmul import onednn_product
from weebill.translation.model.batch import Batch, make_batch
from weebill.translation.training.loss import batch_loss
from weebill.translation.training.settings import TrainingConfig
from weebill.translation.training.task import TranslationTask
from weebill.translation.training.trainer import new_network
from weebill_runtime.architecture import Architecture

MODELS_MEASURED = {"multi30k.teacher": 8000, "6-2.tied.tiny": 32000, "base": 32000}  # pieces
SMALLEST = {"arch": ("multi30k.teacher",)}
BATCH_TOKENS = 4096
LENGTHS = range(12, 36)  # pieces per side
MATRIX = 1024  # rows and columns of the plain products


def run(
    rounds: int,
    arch: Annotated[Sequence[str], Option("networks of the zoo", choices=MODELS_MEASURED)] = tuple(
        MODELS_MEASURED
    ),
) -> list[Row]:
    """Measure a row per model: GFLOP/s of its training updates on one core, and of plain float32 products."""
    with one_thread():
        return [_measure(name, MODELS_MEASURED[name], rounds) for name in arch]


def _measure(name: str, pieces: int, rounds: int) -> Row:
    """Measure a model; each round has a batch of another shape, prepared by an update that is `rounds` earlier."""
    config = TrainingConfig(batch_tokens=BATCH_TOKENS, dropout=0.1, label_smoothing=0.1)
    network = new_network(Architecture.from_zoo(load_zoo()[name], pieces), 1, config.dropout)
    task = TranslationTask(network, config, seed=1)
    optimizer = task.configure_optimizers()

    def update(batch: Batch) -> None:
        batch_loss(network, batch, batch.words, config.label_smoothing).backward()
        optimizer.step()
        optimizer.zero_grad()
        task.smooth(1)

    batches = [_random_batch(pieces, number) for number in range(rounds + 1)]
    amounts = [operations(partial(update, batch)) / 1e9 for batch in batches]
    left, right = torch.randn(2, MATRIX, MATRIX)

    def seconds(candidate: Callable[..., object]) -> float:
        return min(timed(candidate, left, right) for _ in range(6))  # the first is a warm-up

    multiply = min((torch.mm, onednn_product), key=seconds)
    products = max(1, round(amounts[0] / (2e-9 * MATRIX**3)))

    def ours() -> None:
        update(batches.pop(0))

    def other() -> None:
        for _ in range(products):
            multiply(left, right)

    taken = seconds_in_turn({"ours": ours, "other": other}, rounds)
    return Row.of_rounds(
        f"training {name} against the core's float32 matrix rate",
        [amount / one for amount, one in zip(amounts[1:], taken["ours"], strict=True)],
        [products * 2e-9 * MATRIX**3 / one for one in taken["other"]],
        unit="GFLOP/s",
    )


def operations(work: Callable[[], object]) -> int:
    """Count the additions and multiplications of matrix products in one run of `work`."""
    known = {torch.ops.mkldnn._linear_pointwise: _product_operations}
    with FlopCounterMode(display=False, custom_mapping=known) as counter:
        work()
    return counter.get_total_flops()


def _product_operations(rows, outputs, *_arguments, **_shape) -> int:
    """Count the operations of oneDNN's linear layer for the shapes (n, k) and (m, k)."""
    return 2 * rows[0] * rows[1] * outputs[0]


def _random_batch(pieces: int, number: int) -> Batch:
    """Make a batch of random pieces in sentences of one length, similar to length-sorted batches.

    The length depends on `number`, because libraries prepare products for a shape and would be too fast for only one.
    """
    length = int(np.random.default_rng(1).permutation(LENGTHS)[number % len(LENGTHS)])
    count = BATCH_TOKENS // (2 * length)
    source, target = np.random.default_rng(number).integers(2, pieces, (2, count, length))
    return make_batch(list(source), list(target))
