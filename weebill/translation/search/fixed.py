"""Decoding of batches in fixed memory and shapes, so that a GPU replays graphs instead of waiting for the host.

Sizes of a batch are rounded up to a few shapes, each with graphs of its own.  A graph takes several decoder steps.
Then the host asks how many sentences are unfinished, and moves these to a smaller shape if that saves much.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from weebill.translation.model.decoder_state import FixedPast, FixedState
from weebill.translation.model.network import START, sinusoids
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.replay import FixedRows, Replays
from weebill.translation.search.shapes import (
    Shape,
    fewer_rows,
    power_of_two,
    round_length,
    round_rows,
    rounded,
)
from weebill_runtime.vocabulary import EOS

STEPS = 8  # decoder steps per graph; with 4 or 16 steps, searches were as fast (docs/results/gpu)
MOST_ROWS = 4096  # initial capacity of histories: rows times slots, and steps:
MOST_STEPS = 512


class FixedDecoder:
    """Memory, graphs and states of an ensemble's decoding on one device.

    rows: tensors of the present batch: `source` and `mask` (b, s), `limits`, `ids` and `live` (b,), `tokens` (b·k,),
    those of the states, and others of a search.  ids: sentence of each row; rows without a sentence are never live.
    fixed: tensors of other shapes.  position: (1,), number of steps taken.  unfinished: (1,), number of live rows.
    """

    def __init__(self, device: torch.device):
        self.device, self.replays = device, Replays(device)
        self.rows = FixedRows(device, self.replays.clear)
        self.fixed = FixedRows(device, self.replays.clear)
        self.position = torch.zeros(1, dtype=torch.long, device=device)
        self.unfinished = torch.zeros_like(self.position)
        self.steps, self.width = MOST_STEPS, MOST_ROWS  # capacity of histories
        self._held: dict[Hashable, Tensor] = {}
        self._addresses: list | None = None  # of the weights that the graphs read
        self.score_type = torch.float32  # of the networks' scores
        self._like: list = []  # a state of each network with one row, after one step
        self._tables: list[Tensor] = []  # encodings of positions of each network

    def free(self) -> None:
        """Free memory and graphs at once; Python would find the reference cycles here much later."""
        self.replays.clear()
        self.rows.free()
        self.fixed.free()
        self._held.clear()
        self._like, self._tables = [], []

    @contextmanager
    def decoding(self, ensemble: Ensemble) -> Iterator[None]:
        """Prepare for an ensemble; graphs stay if they read the same weights at the same addresses."""
        if self._addresses is None or self._addresses != _addresses(ensemble):
            self.replays.clear()
            self._like = []
        with torch.inference_mode(), self.replays.running():
            if not self._like:
                self._probe(ensemble)
            yield
        self._addresses = _addresses(ensemble)

    def begin(
        self, ensemble: Ensemble, source: Tensor, mask: Tensor, limits: Tensor, slots: int
    ) -> tuple[Shape, int]:
        """Encode sources (b, s) with masks (b, s) and limits (b,); return shape and largest number of steps."""
        count, longest = source.shape
        steps = rounded(int(limits.max()), STEPS)
        rows, length = round_rows(count), round_length(longest)
        attends = any(state.pasts for state in self._like)
        shape = Shape(rows, slots, length, rounded(steps, 64) * slots if attends else 0)
        if steps > self.steps or rows * slots > self.width:
            self.replays.clear()
            self.steps, self.width = max(self.steps, steps), max(self.width, rows * slots)
        if not self._tables or len(self._tables[0]) < self.steps:
            self.replays.clear()
            self._tables = self._encodings(ensemble, self.steps)
        self.rows.begin()
        self._fill("source", source, (rows, length), EOS)
        self._fill("mask", mask, (rows, length), False)
        self.tensor("mask", shape)[count:, 0] = True  # attention over nothing would be NaN
        self._fill("limits", limits, (rows,), 1)
        self._fill("live", torch.ones_like(limits, dtype=torch.bool), (rows,), False)
        self._fill("ids", torch.arange(rows), (rows,), 0)
        self._fill("tokens", limits.new_empty(0, 0), (rows, slots), START)
        self.position.zero_()
        self.replays.run(("encode", rows, length), lambda: self._encoding(ensemble, shape))
        for state in self.states(shape):
            for cell in state.cells:
                cell.zero_()
        for number, like in enumerate(self._like):
            for pair in self._pairs(f"past {number}", like.pasts, rows, shape.room):
                for part in pair or ():
                    part.zero_()  # old NaN in entries that no row sees would spread
        self._ancestors(shape).zero_()
        return shape, steps

    def run(
        self,
        ensemble: Ensemble,
        shape: Shape,
        steps: int,
        kind: Hashable,
        make: Callable[[Shape], Callable[[], None]],
    ) -> None:
        """Take steps until no row is live; for each shape, `make` returns a function that takes STEPS steps.

        kind: everything else that such a function depends on.
        """
        kind = (kind, tuple(getattr(one, "output_columns", None) for one in ensemble.networks))
        for done in range(0, steps, STEPS):
            if shape.room:
                seen = shape.slots * max(64, power_of_two(done + STEPS))
                shape = replace(shape, entries=min(shape.room, seen))
            self.replays.run((kind, shape), lambda shape=shape: make(shape))
            if done + STEPS >= steps or not (alive := int(self.unfinished)):
                return
            fewer = fewer_rows(shape.rows, alive)
            if fewer < shape.rows:
                live = self.tensor("live", shape)
                order = (~live).byte().argsort(stable=True)[:fewer]  # live ones first
                self.rows.keep(order)
                shape = replace(shape, rows=fewer)

    def tensor(self, name: str, shape: Shape) -> Tensor:
        """Return a tensor that `begin` made; the docstring of the class lists them."""
        if name in ("source", "mask"):
            kind = torch.bool if name == "mask" else torch.long
            return self.rows.get(name, (shape.rows, shape.length), kind)
        if name == "tokens":
            return self.rows.get(name, (shape.rows, shape.slots), torch.long).view(-1)
        return self.rows.get(name, (shape.rows,), torch.bool if name == "live" else torch.long)

    def numbers(self, count: int) -> Tensor:
        """Return 0, 1, … (count,) at a fixed address, which graphs read at each replay."""
        return self.held(("numbers", count), lambda: torch.arange(count, device=self.device))

    def held(self, key: Hashable, make: Callable[[], Tensor]) -> Tensor:
        """Return a tensor that is made once and kept, because a graph's inputs must outlive its recording."""
        if key not in self._held:
            self._held[key] = make()
        return self._held[key]

    def history(self, name: str, dtype: torch.dtype = torch.int32) -> Tensor:
        """Return the record (steps, width) of all steps; a row's slot has column ids·k + slot."""
        return self.fixed.get(name, (self.steps, self.width), dtype)

    def states(self, shape: Shape) -> list[FixedState]:
        """Return the networks' states, in the present batch's memory."""
        mask = self.tensor("mask", shape)[:, None, None, :]
        ancestors = self._ancestors(shape)[:, :, : shape.entries]
        numbers = self.numbers(shape.slots)
        own = self.held(("own", shape.slots), lambda: (numbers == numbers[:, None])[None])
        return [
            FixedState(
                position=self.position,
                mask=mask,
                memory=self._pairs(f"memory {number}", like.memory, shape.rows, shape.length),
                cells=self._cells(number, like.cells, shape),
                pasts=[
                    pair and FixedPast(part[:, :, : shape.entries] for part in pair)
                    for pair in self._pairs(f"past {number}", like.pasts, shape.rows, shape.room)
                ],
                ancestors=ancestors,
                encodings=table,
                own=own,
            )
            for number, (like, table) in enumerate(zip(self._like, self._tables, strict=True))
        ]

    def _probe(self, ensemble: Ensemble) -> None:
        """Take one step of one row, to see the shapes and types of states."""
        source = torch.full((1, 1), EOS, device=self.device)
        states = ensemble.start(source, torch.ones_like(source, dtype=torch.bool))
        values, self._like = ensemble.scores(torch.full_like(source[0], START), states)
        self.score_type = values.dtype

    def _encodings(self, ensemble: Ensemble, positions: int) -> list[Tensor]:
        widths = [getattr(one, "network", one).width for one in ensemble.networks]
        return [sinusoids(0, positions, width, self.device) for width in widths]

    def _encoding(self, ensemble: Ensemble, shape: Shape) -> Callable[[], None]:
        source, mask = self.tensor("source", shape), self.tensor("mask", shape)
        states = self.states(shape)

        def encode() -> None:
            for state, found in zip(states, ensemble.start(source, mask), strict=True):
                for pair, new in zip(state.memory, found.memory, strict=True):
                    for old, part in zip(pair or (), new or (), strict=True):
                        old.copy_(part)

        return encode

    def _fill(self, name: str, values: Tensor, shape: tuple[int, ...], rest: int | bool) -> None:
        """Set a tensor to the values in its first rows and columns, and to `rest` elsewhere."""
        tensor = self.rows.get(name, shape, values.dtype)
        tensor.fill_(rest)
        tensor[tuple(map(slice, values.shape))].copy_(values)

    def _ancestors(self, shape: Shape) -> Tensor:
        return self.rows.get("ancestors", (shape.rows, shape.slots, shape.room), torch.bool)

    def _cells(self, number: int, likes: list[Tensor], shape: Shape) -> list[Tensor]:
        return [
            self.rows.get(
                f"cell {number} {index}", (shape.rows, shape.slots, like.shape[1]), like.dtype
            ).flatten(0, 1)
            for index, like in enumerate(likes)
        ]

    def _pairs(self, name: str, likes: list, rows: int, positions: int) -> list:
        """Return keys and values (rows, h, positions, k) of each layer, or None."""
        return [
            like
            and tuple(
                self.rows.get(
                    f"{name} {index} {side}",
                    (rows, part.shape[1], positions, part.shape[3]),
                    part.dtype,
                )
                for side, part in enumerate(like)
            )
            for index, like in enumerate(likes)
        ]


_KEPT: WeakKeyDictionary[object, FixedDecoder] = WeakKeyDictionary()


def decoder_of(ensemble: Ensemble, device: torch.device) -> FixedDecoder:
    """Return the decoder of an ensemble, with the graphs of earlier searches, unless its networks are in training.

    In training, weights may move before the next search and the memory is needed; a search then frees it at its end.
    """
    every = (one for module in _modules(ensemble) for one in module.modules())
    in_training = any(getattr(one, "in_training", False) for one in every)
    if in_training or not ensemble.lasting:
        ensemble.decoder = ensemble.decoder or FixedDecoder(device)
        return ensemble.decoder
    first = ensemble.networks[0]
    if first not in _KEPT or _KEPT[first].device != device:
        _KEPT[first] = FixedDecoder(device)
    return _KEPT[first]


def _modules(ensemble: Ensemble) -> list[nn.Module]:
    return [getattr(one, "network", one) for one in ensemble.networks]


def _addresses(ensemble: Ensemble) -> list:
    """Return address, shape and type of the networks' tensors, except the output layers that engines change."""
    found = []
    for one, network in zip(ensemble.networks, _modules(ensemble), strict=True):
        engine_output = set() if one is network else set(network.output.modules())
        for module in network.modules():
            if module in engine_output:
                continue
            tensors = [
                *module._parameters.values(),
                *module._buffers.values(),
                *vars(module).values(),
            ]
            found += [
                (tensor.data_ptr(), tensor.shape, tensor.dtype)
                for tensor in tensors
                if isinstance(tensor, Tensor)
            ]
    return found
