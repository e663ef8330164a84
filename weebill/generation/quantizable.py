"""Weights of generators that quantization rounds: the modules that have them, and their rounding in a training."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn
from torch.nn.utils import parametrize
from transformers import PreTrainedModel
from transformers.models.bart.modeling_bart import BartLearnedPositionalEmbedding
from transformers.pytorch_utils import Conv1D

from weebill.generation.weight_grids import WeightGrid, grid_of_bits
from weebill.hugging_face.t5 import TABLE
from weebill.quantization.weights import straight_through


def quantizable(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Yield the modules with a weight to quantize, and their names; a module may have several.

    Modules that pruning left empty, T5's biases of attention scores, and embeddings that are computed in another way,
    such as sinusoidal positions, stay float32.
    """
    for name, module in model.named_modules(remove_duplicate=False):
        if name.endswith(TABLE) or (isinstance(module, nn.Embedding) and not _is_lookup(module)):
            continue
        if isinstance(module, nn.Linear | Conv1D | nn.Embedding) and module.weight.numel():
            yield name, module


def _is_lookup(module: nn.Embedding) -> bool:
    """Return True if an embedding looks up rows in a way that int8 supports."""
    known = isinstance(module, BartLearnedPositionalEmbedding) or hasattr(module, "embed_scale")
    return known or type(module).forward is nn.Embedding.forward


def linears(model: nn.Module) -> dict[str, nn.Module]:
    """Return the linear maps among the quantizable modules, by name."""
    return {n: module for n, module in quantizable(model) if not isinstance(module, nn.Embedding)}


def matrix_of(module: nn.Module) -> Tensor:
    """Return a module's weight, (outputs, inputs)."""
    return module.weight.t() if isinstance(module, Conv1D) else module.weight


@contextmanager
def weights_on_grid(model: PreTrainedModel, bits: int = 8) -> Iterator[PreTrainedModel]:
    """Round the model's weights to `bits` bits in its computations within the context; keep them rounded after it.

    This is quantization-aware training (TEXTGEN §3.4): gradients pass straight through, and the optimizer updates the
    unrounded parameters, which stay the same objects.  Activations are not rounded.
    """
    chosen = list({module: None for _, module in quantizable(model)})  # one may have several names
    for module in chosen:
        rounded = _Rounded(grid_of_bits(bits), isinstance(module, Conv1D))
        parametrize.register_parametrization(module, "weight", rounded)
    try:
        yield model
    finally:
        for module in chosen:
            parametrize.remove_parametrizations(module, "weight", leave_parametrized=True)


class _Rounded(nn.Module):
    def __init__(self, grid: WeightGrid, transposed: bool):
        """Round rows, or columns if `transposed`: Conv1D has its outputs in the second dimension."""
        super().__init__()
        self.grid, self.transposed = grid, transposed

    def forward(self, weight: Tensor) -> Tensor:
        """Return the weight with each output rounded to the grid."""
        rows = weight.T if self.transposed else weight
        rounded = straight_through(rows, self.grid.rounded(rows))
        return rounded.T if self.transposed else rounded
