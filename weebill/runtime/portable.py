"""Engine that computes by PyTorch, for models that the compiled engine cannot hold, and as its reference."""

import copy
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from weebill.quantization.modules import QuantizedLinear
from weebill.translation.model.batch import pad
from weebill.translation.model.network import START, State, Translator
from weebill.translation.search import prepack
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.run import greedy_batch
from weebill_runtime.batching import Sources


class PortableEngine:
    """Engine of PyTorch, with linear layers packed for oneDNN and torch's integer products.

    It has the methods of `weebill_runtime.compiled.Engine`, whose reference it is, and those of a network.
    """

    def __init__(self, network: Translator, precision: str = "float32"):
        self.network = copy.deepcopy(network)
        prepack(self.network, precision)
        self.output = self.network.output
        self.encode, self.start = self.network.encode, self.network.start
        self.device = network.output.bias.device

    def reserve(self, positions: int) -> None:
        """Do nothing: the network makes room by itself."""

    def choose(self, columns: np.ndarray) -> None:
        self._columns = torch.from_numpy(columns).long().to(self.device)
        every = len(columns) == self.network.embedding.num_embeddings
        self.network.output = self.output if every else _some_outputs(self.output, self._columns)

    def greedy(
        self, sources: Sources, limits: Sequence[int], allow_unknown: bool
    ) -> list[list[int]]:
        source, mask = (tensor.to(self.device) for tensor in pad(sources))
        with torch.inference_mode():
            found = greedy_batch(
                Ensemble([self]), source, mask, torch.tensor(limits).to(self.device), allow_unknown
            )
        columns = self._columns.cpu()
        return [columns[tokens].tolist() for tokens in found]

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        return self.network.step(pieces_of(self._columns, tokens), state)


def pieces_of(columns: Tensor, tokens: Tensor) -> Tensor:
    """Return the pieces of some columns; START stays."""
    return torch.where(tokens == START, START, columns[tokens.clamp(min=0)])


def _some_outputs(output: nn.Linear | QuantizedLinear, rows: Tensor) -> nn.Module:
    bias = nn.Parameter(output.bias[rows], requires_grad=False)
    if isinstance(output, QuantizedLinear):
        return QuantizedLinear(output.quantized.select(rows), bias, output.activation_scale)
    layer = nn.utils.skip_init(nn.Linear, output.in_features, len(rows))
    layer.weight, layer.bias = nn.Parameter(output.weight[rows], requires_grad=False), bias
    return layer
