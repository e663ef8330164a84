"""Metric's network prepared for reading sequences of pieces: packed once, and used in batches of similar length."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from weebill.errors import InputError
from weebill.kernels.cuda import avoid_slow_attention, card_multiplies_bfloat16
from weebill.kernels.extension import fastest
from weebill.kernels.split_linear import inference_linear
from weebill.metric.encoding import RaggedEncoder
from weebill.metric.folder import Metric
from weebill.metric.lengths import Lengths
from weebill.metric.network import Map
from weebill.metric.pooling import Pool

# Types of the encoder's weights; int8 concerns linear maps only.
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "int8": torch.float32}
# Larger batches are not faster on one core.  The float32 states of int8's batches stay in a near cache; larger ones
# are a third slower.
BATCH_PIECES = {"cpu": 2048, "cuda": 65_536, "int8": 512}
WINDOW_BYTES = 2**30  # limit for the states of all batches in one pass of a streamed encoder
SEGMENTS = 2048  # segments in one batch of the estimator

Progress = Callable[[int], None]


def precision_on(device: str | torch.device, wanted: str) -> str:
    """Return a precision; "auto" is bfloat16 on a GPU that multiplies it and in rehearsals, else float32."""
    if wanted != "auto":
        return wanted
    rounds = card_multiplies_bfloat16() if str(device).startswith("cuda") else str(device) != "cpu"
    return "bfloat16" if rounds else "float32"


class Reading(NamedTuple):
    """Vector (d,) of a sequence, and logits (pieces, labels) of each piece if the model labels them."""

    vector: np.ndarray
    logits: Tensor | None


class Reader:
    """Network for inference; weights are packed once and must not change."""

    def __init__(
        self,
        metric: Metric,
        precision: str = "float32",
        device: str | torch.device = "cpu",
        batch_pieces: int | None = None,
        *,
        stream: bool = False,
    ) -> None:
        """Take a metric, and options as in `Scorer`."""
        self.metric, self.precision, self.device = metric, precision, torch.device(device)
        kind = precision if precision == "int8" else self.device.type
        self._batch_pieces = batch_pieces or BATCH_PIECES.get(kind, 2048)
        self._stream = stream
        if self.device.type == "cuda":
            avoid_slow_attention()

    def read(
        self,
        sequences: Sequence[Sequence[int]],
        progress: Progress,
        first: Sequence[int] | None = None,
    ) -> list[Reading]:
        """Read sequences of pieces.

        progress: called with the number of sequences of each batch.  first: number of pieces of BERT's first type in
        each sequence; None: all.
        """
        return self.begin(sequences, progress, first)()

    def begin(
        self,
        sequences: Sequence[Sequence[int]],
        progress: Progress,
        first: Sequence[int] | None = None,
    ) -> Callable[[], list[Reading]]:
        """Begin to read, and return a function that waits for the result of `read`; a GPU works meanwhile."""
        order = sorted(range(len(sequences)), key=lambda index: len(sequences[index]))
        parts = [
            order[part] for part in ranges([len(sequences[i]) for i in order], self._batch_pieces)
        ]
        done: list[tuple[Tensor, Tensor | None]] = []  # on the device
        for window in self._windows(parts, sequences):
            with torch.inference_mode():
                batches = [
                    self._batch([sequences[row] for row in rows], rows, first) for rows in window
                ]
                for number in range(self._encoder.depth + 1):
                    for batch in batches:
                        batch.step(number)
                for rows, batch in zip(window, batches, strict=True):
                    done.append(batch.results())
                    progress(len(rows))

        def finish() -> list[Reading]:
            found: list[Reading | None] = [None] * len(sequences)
            for rows, (vectors, logits) in zip(parts, done, strict=True):
                each = (None,) * len(rows)
                if logits is not None:
                    each = logits.cpu().split([len(sequences[row]) for row in rows])
                for row, *pair in zip(rows, vectors.cpu().numpy(), each, strict=True):
                    found[row] = Reading(*pair)
            return found

        return finish

    def _windows(
        self, parts: list[list[int]], sequences: Sequence[Sequence[int]]
    ) -> Iterator[list[list[int]]]:
        """Yield batches that go through the encoder together: one, or many if its layers are streamed."""
        if not self._stream:
            yield from ([rows] for rows in parts)
            return
        width = 4 * self.metric.network.encoder.config.hidden_size
        sizes = [width * sum(len(sequences[row]) for row in rows) for rows in parts]
        for window in ranges(sizes, WINDOW_BYTES):
            yield parts[window]

    def _batch(
        self, sequences: list[Sequence[int]], rows: list[int], first: Sequence[int] | None
    ) -> "_Batch":
        lengths = Lengths(sequences).on(self.device)
        flat = torch.tensor(list(chain.from_iterable(sequences)))
        types: Tensor | int = 0
        if first is not None:
            pairs = zip(sequences, rows, strict=True)
            each = ([place >= first[row] for place in range(len(one))] for one, row in pairs)
            types = torch.tensor(list(chain.from_iterable(each))).long()
        pool = Pool(flat, lengths, self.metric.network.architecture, self.metric.tokenizer.pad)
        return _Batch(self._encoder.states(flat, lengths, types), pool, self)

    @cached_property
    def weights(self) -> list[float]:
        """Weights of the encoder states up to the last that is used; states above are not computed."""
        network = self.metric.network
        last = max(network.last_state(), self.word_layer or 0)
        return network.state_weights().detach()[: last + 1].tolist()

    @property
    def word_layer(self) -> int | None:
        """Number of the state whose pieces are labelled, if any."""
        joint = self.metric.network.architecture.joint
        return None if joint is None else joint.word_layer

    @cached_property
    def tagger(self) -> Map:
        """Map from states (n, d) to the logits (n, labels) of the pieces."""
        return self._packed(self.metric.network.tagger)

    @cached_property
    def _encoder(self) -> RaggedEncoder:
        isa = fastest() if self.precision == "int8" else None
        dtype, depth = PRECISIONS[self.precision], len(self.weights) - 1
        encoder = self.metric.network.encoder
        try:
            return RaggedEncoder(encoder, dtype, depth, self.device, isa, stream=self._stream)
        except ValueError as error:
            raise InputError(f"{self.metric.name}: {error}; the model has diverged") from error

    @cached_property
    def _estimator_maps(self) -> list[Map]:
        return [self._packed(one) for one in self.metric.network.estimator.linears]

    def _packed(self, linear: torch.nn.Linear) -> Map:
        weight, bias = (
            one.detach().float().to(self.device) for one in (linear.weight, linear.bias)
        )
        return inference_linear(weight, bias, rows=SEGMENTS)

    def estimate(self, features: Tensor) -> Tensor:
        """Map the estimator's features (n, blocks · d), SEGMENTS at most, to scores (n,)."""
        return self.metric.network.estimator.apply_maps(features, self._estimator_maps)


class _Batch:
    """Sequences on their way through the encoder, one state after the other."""

    def __init__(self, states: Iterator[Tensor], pool: Pool, reader: Reader) -> None:
        self._states, self._pool, self._reader = states, pool, reader
        self._logits: Tensor | None = None

    def step(self, number: int) -> None:
        """Compute the next state and add it."""
        state = next(self._states)
        self._pool.add(state, self._reader.weights[number])
        if number == self._reader.word_layer:
            self._logits = self._reader.tagger(state)

    def results(self) -> tuple[Tensor, Tensor | None]:
        """Return vectors (sequences, d), and logits (n, labels) of all pieces if the model labels them."""
        return self._pool.vectors(), self._logits


def ranges(sizes: Sequence[int], bound: int) -> Iterator[slice]:
    """Yield consecutive ranges whose sizes sum to at most `bound`; a larger one is a separate range."""
    begin, filled = 0, 0
    for number, size in enumerate(sizes):
        if number > begin and filled + size > bound:
            yield slice(begin, number)
            begin, filled = number, 0
        filled += size
    if sizes:
        yield slice(begin, len(sizes))
