"""Engine that computes with PyTorch: for GPUs, for models that the compiled engine cannot hold, as its reference."""

import copy
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from weebill.runtime.fixed_output import FixedOutputs, some_outputs
from weebill.translation.model.batch import pad
from weebill.translation.model.network import START, State, Translator
from weebill.translation.search import prepack
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.run import greedy_batch
from weebill_runtime.batching import Sources


class PortableEngine:
    """Engine of PyTorch; on a CPU with linear layers packed for oneDNN and torch's integer products.

    It has the methods of `weebill_runtime.compiled.Engine`, whose reference it is, and those of a network.
    output_columns: number of output columns, with padding, if only some are computed, in fixed memory.
    """

    def __init__(self, network: Translator, precision: str = "float32"):
        self.network = copy.deepcopy(network)
        self.device = network.output.bias.device
        if self.device.type == "cpu":
            prepack(self.network, precision)
        elif precision != "float32":
            self.network.to(getattr(torch, precision))
        self.output, self.output_columns = self.network.output, None
        self.encode, self.start = self.network.encode, self.network.start
        self._fixed = FixedOutputs(self.output)
        # Graphs read it at a fixed address.
        self._every = torch.arange(network.embedding.num_embeddings, device=self.device)

    def reserve(self, positions: int) -> None:
        """Do nothing: the network makes room by itself."""

    def choose(self, columns: np.ndarray) -> None:
        self._chosen = columns
        if len(columns) == len(self._every):
            self._hold(self.output, self._every)
        elif self.device.type == "cpu":
            chosen = torch.from_numpy(columns).long()
            self._hold(some_outputs(self.output, chosen), chosen)
        else:
            self._hold(*self._fixed.choose(columns))
            self.output_columns = len(self._columns)

    def _hold(self, output: nn.Module, columns: Tensor) -> None:
        self.network.output, self._columns, self.output_columns = output, columns, None

    def greedy(
        self, sources: Sources, limits: Sequence[int], allow_unknown: bool
    ) -> list[list[int]]:
        source, mask = (tensor.to(self.device) for tensor in pad(sources))
        with torch.inference_mode():
            found = greedy_batch(
                Ensemble([self]), source, mask, torch.tensor(limits).to(self.device), allow_unknown
            )
        columns = self._chosen.tolist()
        return [[columns[token] for token in tokens] for tokens in found]

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        return self.network.step(pieces_of(self._columns, tokens), state)


def pieces_of(columns: Tensor, tokens: Tensor) -> Tensor:
    """Return the pieces of some columns; START stays."""
    return columns[tokens.clamp(min=0)].masked_fill(tokens == START, START)
