"""Forward and backward passes of batches whose shapes repeat, recorded as CUDA graphs.

A small batch keeps a GPU busy for less time than the host needs to launch its kernels: on an H100, an update of
`tiny` with 16,384 positions takes 31 ms launched one by one, and 11 ms as a graph.  So batches are padded to few
shapes, and a shape that occurs often enough is recorded once and replayed.  A graph reads and writes fixed memory:
its inputs are copied, weights and gradients stay where they are, and random numbers follow the generator's seed at
each replay.  All graphs share one pool of memory, because only one of them runs at a time.
"""

import logging
from collections import Counter
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from weebill.kernels.graphs import Recorder
from weebill.translation.model.batch import Batch
from weebill.translation.model.network import START
from weebill_runtime.vocabulary import EOS

LENGTHS = 8  # lengths are multiples of it
STEPS = 4  # numbers of pairs in each octave: 128, 160, 192, 224, 256
# Number of times that a shape must occur before it is recorded, which takes as long as some eager passes.
RECORDED_AT = 4
MOST = 64  # graphs of a training
WORK = 1e12  # parameters × positions of a batch that keep a card busy without graphs


class RecordedPasses:
    """Function from batches to losses; it adds the gradients to `grad` of the network's parameters.

    passes: computes the loss of a batch, detached, and adds its gradients.  The gradients must stay in place: set
    them to zero, and not to None.
    """

    def __init__(self, network: nn.Module, passes: Callable[[Batch], Tensor], recorder: Recorder):
        self._passes, self._recorder = passes, recorder
        self._weights = [weight for weight in network.parameters() if weight.requires_grad]
        for weight in self._weights:
            weight.grad = torch.zeros_like(weight)
        self._seen: Counter[tuple[int, ...]] = Counter()
        self._recorded: dict[tuple[int, ...], _Recorded] = {}
        self._memory = self._addresses()
        self.possible = True
        self.replays = 0

    def __call__(self, batch: Batch, may_record: bool = True) -> Tensor:
        """Return the loss of a batch from `padded`, a scalar that the next call overwrites.

        may_record: False to replay what is recorded and to record nothing, as while another thread uses the GPU.
        """
        shape = (*batch.source.shape, batch.target.shape[1])
        self._seen[shape] += 1
        if self._recorded and self._memory != self._addresses():
            logging.info("weights were moved in memory: CUDA graphs are recorded again")
            self._recorded.clear()
            self._recorder.forget()
        if shape not in self._recorded and may_record and self._worth(shape):
            self._record(shape, batch)
        if (recorded := self._recorded.get(shape)) is not None:
            self.replays += 1
            return recorded(batch)
        loss = torch.zeros((), device=batch.source.device)
        with self._recorder.running():
            loss.copy_(self._passes(batch))
        return loss

    def _worth(self, shape: tuple[int, ...]) -> bool:
        return self.possible and self._seen[shape] >= RECORDED_AT and len(self._recorded) < MOST

    def _record(self, shape: tuple[int, ...], batch: Batch) -> None:
        self._memory = self._addresses()
        try:
            self._recorded[shape] = _Recorded(self._passes, batch, self._recorder)
        except RuntimeError as error:
            self.possible = False
            self._recorded.clear()  # their memory is needed now
            logging.warning(
                "no CUDA graph of a batch can be recorded; training goes on without: %s", error
            )

    def _addresses(self) -> list[int]:
        """Return the addresses of weights and gradients, which is all that graphs know of them."""
        weights, gradients = self._weights, [weight.grad for weight in self._weights]
        return [0 if one is None else one.data_ptr() for one in (*weights, *gradients)]


class _Recorded:
    """Recorded pass of one shape: its inputs, its loss, and the function that runs it."""

    def __init__(self, passes: Callable[[Batch], Tensor], batch: Batch, recorder: Recorder):
        self._inputs = batch.clone()
        self._loss = torch.zeros((), device=batch.source.device)
        self._replay = recorder.record(lambda: self._loss.copy_(passes(self._inputs)))

    def __call__(self, batch: Batch) -> Tensor:
        self._inputs.copy_(batch)
        self._replay()
        return self._loss


def keeps_card_waiting(network: nn.Module, positions: int) -> bool:
    """Return True if batches of `positions` are too small to keep a card busy, so that graphs are faster."""
    return positions * sum(weight.numel() for weight in network.parameters()) <= WORK


def padded(batch: Batch, words: int) -> Batch:
    """Pad a batch to one of few shapes, and divide its weights so that its loss for one word is that for `words`.

    Lengths become multiples of `LENGTHS`; numbers of pairs have `STEPS` values an octave.  Added pairs have a source
    of one piece and no weight; `places` has all target positions, and padding adds nothing to the loss.
    """
    pairs = len(batch.source)
    more_pairs = rounded_pairs(pairs) - pairs
    source, source_mask, target, target_mask, decoder_input = (
        _filled(value, more_pairs, filling)
        for value, filling in (
            (batch.source, EOS),
            (batch.source_mask, False),
            (batch.target, EOS),
            (batch.target_mask, False),
            (batch.decoder_input, EOS),
        )
    )
    source_mask[pairs:, 0] = True  # attention to no piece at all would be NaN
    decoder_input[pairs:, 0] = START
    return Batch(
        source,
        source_mask,
        decoder_input,
        target,
        target_mask,
        places=torch.arange(target.numel(), device=target.device),
        weight=functional.pad(batch.weight / words, (0, more_pairs)),
    )


def rounded_pairs(pairs: int) -> int:
    """Return a number of pairs rounded up to one of `STEPS` values an octave."""
    step = max(1, 2 ** ((pairs - 1).bit_length() - 1) // STEPS)
    return -(-pairs // step) * step


def _filled(value: Tensor, more_pairs: int, filling: int | bool) -> Tensor:
    """Add pairs, and positions up to a multiple of `LENGTHS`."""
    return functional.pad(value, (0, -value.shape[1] % LENGTHS, 0, more_pairs), value=filling)
