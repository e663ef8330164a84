"""Training speed on a device: our updates, as in `train`, against updates of a MarianMTModel of the same shape.

Both get the same batches of random pieces with the lengths of news text, and take turns in windows of several
updates.  Operations are the multiplications and additions of matrix products with weights, without padding.
"""

import logging
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median
from typing import Any, Literal

import lightning
from torch import nn
from torch.utils.data import DataLoader

from weebill.benchmarks.gpu_figures import figure
from weebill.benchmarks.gpu_opponent import MarianTraining
from weebill.benchmarks.gpu_workload import RandomCorpus, seconds, wait
from weebill.configuration.zoo_file import load_zoo
from weebill.experiment.zoo import member_of
from weebill.kernels.cpu_matmul import training_precision
from weebill.kernels.cuda import freed, set_gpu_defaults
from weebill.translation.model.network import Translator
from weebill.translation.training.parts import lightning_trainer, task_and_stream
from weebill.translation.training.settings import Hardware, TrainingConfig
from weebill.translation.training.task import UpdateStream
from weebill.translation.training.trainer import new_network
from weebill_runtime.architecture import Architecture

WARM = 4.0  # seconds of warm-up, because graphs are recorded when a shape is repeated
OTHER_WARM = 2  # updates of the opponent's warm-up
WINDOW = 0.8  # approximate seconds of a window, which has at least two updates
MOST = 400  # most updates of a window
QUARTERS = 4  # batches of the opponent for one of ours, if the memory is too small


@dataclass(frozen=True)
class Setting:
    """Training to measure: network of the zoo, size of its vocabulary, and positions in a batch."""

    model: str
    pieces: int
    positions: int
    pairs: int = 100_000

    @property
    def name(self) -> str:
        return f"training {self.model}, {self.positions:,} positions a batch"


@dataclass(frozen=True)
class Size:
    """Numbers of a network's weights that multiply each source piece and each target piece."""

    encoder: int
    decoder: int

    @classmethod
    def of(cls, network: Translator) -> "Size":
        """Count the weights of matrices; tied layers count each time."""
        layers = network.decoder_layers()
        cross = (layer.cross_attention for layer in layers)
        memory = sum(_matrices(one.key) + _matrices(one.value) for one in cross)
        decoder = sum(map(_matrices, layers)) + network.output.weight.numel()
        return cls(_matrices(network.encoder) + memory, decoder - memory)

    def operations(self, source: float, target: float) -> float:
        """Return the operations of forward and backward passes over numbers of source and target pieces."""
        return 6.0 * (self.encoder * source + self.decoder * target)


def _matrices(module: nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters() if weight.dim() == 2)


def measure(device: str, rounds: int, setting: Setting, peak: float) -> dict[str, Any]:
    """Return the target pieces per second of our training and of the opponent's, and their shares of the peak.

    peak: operations per second of the device's matrix products.
    """
    architecture = network_shape(setting.model, setting.pieces)
    config = TrainingConfig(
        batch_tokens=setting.positions,
        updates=10**9,
        dropout=0.1,
        label_smoothing=0.1,
        precision=training_precision("auto", _accelerator(device)),
    )
    with freed(device):
        network = new_network(architecture, 1, config.dropout)
        size = Size.of(network)
        corpus = RandomCorpus(setting.pairs, setting.pieces)
        windows = Windows(device, rounds, corpus, config, size, architecture)
        fit(network, corpus, config, device, windows)
        own, others = windows.own, windows.others
        row = figure(
            "training",
            setting.name,
            "target pieces/s",
            [one.pieces for one in own],
            [one.pieces for one in others],
            share=median([one.operations for one in own]) / peak,
            other_share=median([one.operations for one in others]) / peak if others else None,
            operations=median([one.operations for one in own]),
            weights=size.encoder + size.decoder,
            positions=setting.positions,
            precision=config.precision,
            updates_a_second=median([one.updates for one in own]),
        )
        return row | {"other_batches": windows.parts, "other_failed": windows.failure}


def network_shape(model: str, pieces: int) -> Architecture:
    """Return the architecture of a zoo entry, or of an ensemble's first member, with a vocabulary of `pieces`."""
    return Architecture.from_zoo(member_of(load_zoo()[model], 0), pieces)


def _accelerator(device: str) -> Literal["gpu", "cpu"]:
    return "gpu" if device.startswith("cuda") else "cpu"


def fit(
    network: Translator,
    corpus: RandomCorpus,
    config: TrainingConfig,
    device: str,
    windows: "Windows",
) -> None:
    """Train like `train`, but without validations and checkpoints, until all windows are measured."""
    hardware = Hardware(_accelerator(device))
    if hardware.accelerator == "gpu":
        set_gpu_defaults()
    task, stream = task_and_stream(network, corpus, config, hardware, seed=1)
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = lightning_trainer(config, hardware, [windows])
        trainer.fit(task, DataLoader(stream, batch_size=None))


@dataclass(frozen=True)
class Window:
    """Rates of one window: target pieces, operations and updates per second."""

    pieces: float
    operations: float
    updates: float


class Windows(lightning.Callback):
    """Timed windows of updates; after each one, the opponent makes updates on the same corpus.

    opponent: its shape.  If the memory is too small for its batches, it uses quarters of them.
    """

    def __init__(
        self,
        device: str,
        rounds: int,
        corpus: RandomCorpus,
        config: TrainingConfig,
        size: Size,
        opponent: Architecture,
    ):
        self.own: list[Window] = []
        self.others: list[Window] = []
        self.failure, self.parts = "", 1
        self._device, self._rounds, self._size = device, rounds, size
        self._corpus, self._config, self._opponent = corpus, config, opponent
        self._other: MarianTraining | None = None
        self._stream: Iterator[Any] = iter(())
        # Source pieces per target piece of the corpus; a count for each update would make the host wait.
        self._source = float(corpus.lengths("source").sum() / corpus.lengths("target").sum())
        self._length = self._other_length = 0
        self._warm = 0
        # Number of updates and time at half of the warm-up.
        self._half: tuple[int, float] | None = None
        self._updates: list[int] = []  # target pieces of each update in this window

    def on_train_start(self, trainer, task) -> None:
        if not self._attempt(self._warm_other):
            self.parts = QUARTERS
            self._attempt(self._warm_other)
        wait(self._device)
        self._began = time.perf_counter()

    def on_train_batch_end(self, trainer, task, outputs, batch, batch_idx) -> None:
        self._updates.append(batch[1])
        if not self._length:
            self._warm += 1
            self._end_warm_up()
        elif len(self._updates) == self._length:
            wait(self._device)
            self.own.append(self._window(time.perf_counter() - self._began, self._updates))
            if self._other is not None:
                self._attempt(self._time_other)
            trainer.should_stop = len(self.own) == self._rounds
            self._begin()

    def _end_warm_up(self) -> None:
        """End the warm-up when it was long enough; its second half determines the number of updates in a window."""
        if time.perf_counter() - self._began < WARM / 2 or self._warm < 2:
            return
        if self._half is None:
            wait(self._device)
            self._half = self._warm, time.perf_counter()
        elif time.perf_counter() - self._began >= WARM:
            wait(self._device)
            each = (time.perf_counter() - self._half[1]) / (self._warm - self._half[0])
            self._length = min(MOST, max(2, round(WINDOW / each)))
            self._begin()

    def _begin(self) -> None:
        self._updates = []
        wait(self._device)
        self._began = time.perf_counter()

    def _window(self, taken: float, updates: Sequence[int]) -> Window:
        target = sum(updates)
        operations = self._size.operations(self._source * target, target)
        return Window(target / taken, operations / taken, len(updates) / taken)

    def _next(self, count: int) -> Iterator[Any]:
        return islice(self._stream, count)

    def _warm_other(self) -> None:
        config = self._config
        self._other = MarianTraining(
            self._opponent, self._device, config.dropout, config.learning_rate
        )
        positions = config.batch_tokens // self.parts
        smaller = replace(config, batch_tokens=positions, accumulate=self.parts)
        self._stream = iter(UpdateStream(self._corpus, smaller, 1))
        for batches, _ in self._next(OTHER_WARM):
            self._other.update(batches)
        updates = list(self._next(2))
        each = seconds(lambda: [self._other.update(one) for one, _ in updates], self._device) / 2
        self._other_length = min(MOST, max(2, round(WINDOW / each)))

    def _time_other(self) -> None:
        updates = list(self._next(self._other_length))
        taken = seconds(lambda: [self._other.update(one) for one, _ in updates], self._device)
        self.others.append(self._window(taken, [words for _, words in updates]))

    def _attempt(self, work: Callable[[], None]) -> bool:
        """Run some work of the opponent; after an error, such as too little memory, drop it and free its memory."""
        try:
            work()
        except RuntimeError as error:
            self.failure, self._other = str(error).splitlines()[0], None
            error.__traceback__ = None  # holds tensors
        with freed(self._device):
            return self._other is not None
