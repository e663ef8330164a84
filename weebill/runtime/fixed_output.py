"""Output layers that compute only some columns; on a GPU at fixed addresses, for replayed graphs."""

import numpy as np
import torch
from torch import Tensor, nn

from weebill.quantization.modules import QuantizedLinear

FEWEST_COLUMNS = 1024  # shapes of graphs must be few


class FixedOutputs:
    """Layers of 1,024, 2,048, … columns, or all; each takes the chosen rows of the whole output."""

    def __init__(self, output: nn.Linear | QuantizedLinear):
        self._output, self._size = output, FEWEST_COLUMNS
        self._layers: dict[int, tuple[nn.Module, Tensor]] = {}

    @torch.no_grad()
    def choose(self, columns: np.ndarray) -> tuple[nn.Module, Tensor]:
        """Return the layer of columns (n,), and its columns with padding (size,); outputs of padding are −inf.

        The size never shrinks: some additional columns cost less than new graphs.
        """
        while self._size < len(columns):
            self._size *= 2
        size, device = min(self._size, self._output.out_features), self._output.bias.device
        padded = np.zeros(size, dtype=np.int64)
        padded[: len(columns)] = columns
        rows = torch.from_numpy(padded).to(device)
        if size not in self._layers:
            self._layers[size] = some_outputs(self._output, rows).to(device), rows
        layer, held = self._layers[size]
        held.copy_(rows)
        if isinstance(layer, QuantizedLinear):
            layer.quantized.become(self._output.quantized.select(rows))
        else:
            layer.weight.copy_(self._output.weight.index_select(0, rows))
        layer.bias.copy_(self._output.bias[rows])
        layer.bias[len(columns) :] = -torch.inf
        return layer, held


def some_outputs(output: nn.Linear | QuantizedLinear, rows: Tensor) -> nn.Module:
    """Return a layer of some rows (n,) of an output layer."""
    bias = nn.Parameter(output.bias[rows], requires_grad=False)
    if isinstance(output, QuantizedLinear):
        return QuantizedLinear(output.quantized.select(rows), bias, output.activation_scale)
    layer = nn.utils.skip_init(nn.Linear, output.in_features, len(rows))
    layer.weight, layer.bias = nn.Parameter(output.weight[rows], requires_grad=False), bias
    return layer
