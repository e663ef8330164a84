"""Quantization-aware training of text-generating models: weights on an 8-bit grid with a scale for each output.

TEXTGEN §3.4.  Every linear map and every table of embeddings computes with rounded weights, like the int8 model, and
gradients pass straight through.  Activations are not rounded.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn
from torch.nn.utils import parametrize
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from weebill.generation.int8 import GRID, quantizable
from weebill.quantization.grids import grid_named


@contextmanager
def weights_on_grid(model: PreTrainedModel) -> Iterator[PreTrainedModel]:
    """Let the model compute with rounded weights within the context, and keep them rounded after it.

    The optimizer updates the unrounded parameters, which stay the same objects.
    """
    chosen = [module for _, module in quantizable(model)]
    for module in chosen:
        parametrize.register_parametrization(module, "weight", _Rounded(isinstance(module, Conv1D)))
    try:
        yield model
    finally:
        for module in chosen:
            parametrize.remove_parametrizations(module, "weight", leave_parametrized=True)


class _Rounded(nn.Module):
    def __init__(self, transposed: bool):
        """Round rows, or columns if `transposed`: Conv1D has its outputs in the second dimension."""
        super().__init__()
        self.transposed = transposed

    def forward(self, weight: Tensor) -> Tensor:
        """Return the weight with each output rounded by its own scale."""
        rows = weight.T if self.transposed else weight
        rounded = grid_named(GRID).straight_through(rows)
        return rounded.T if self.transposed else rounded
