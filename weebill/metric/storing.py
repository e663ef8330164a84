"""Conversion of a metric's weights to int8 codes, one tensor after the other, as `metric.network` reads them."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from weebill.errors import InputError
from weebill.metric.network import is_stored, stored_names
from weebill.quantization.grids import grid_named
from weebill.tensor_files import Entry

GRID = grid_named("int8_rowwise")
ROWS = 16_384  # rows of a weight that are quantized at once


def entries(network: nn.Module) -> Iterator[Entry]:
    """Yield a network's tensors as after `hold_stored` of its encoder; the network itself stays as it is.

    Raises InputError if its weights are stored already; making a tensor raises it for numbers that are not finite.
    """
    if is_stored(network):
        raise InputError("its weights are int8 already; copy the folder")
    stored = {f"encoder.{name}.weight": name for name in stored_names(network.encoder)}
    for name, value in network.state_dict().items():
        if name not in stored:
            yield Entry(name, torch.float32, (*value.shape,), value.float)
            continue
        base, rows = name.removesuffix(".weight"), value.split(ROWS)
        yield Entry(
            f"{base}.codes",
            torch.int8,
            (*value.shape,),
            lambda name=name, rows=rows: torch.cat([one for one, _ in _quantized(name, rows)]),
        )
        yield Entry(
            f"{base}.scale",
            torch.float32,
            (len(value),),
            lambda name=name, rows=rows: torch.cat([one for _, one in _quantized(name, rows)]),
        )


def _quantized(name: str, parts: Sequence[Tensor]) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield codes (rows, inputs) and scales (rows,) of the parts of a weight."""
    try:
        for part in parts:
            codes, scale = GRID.quantize(part.float())
            yield codes, scale.flatten()
    except ValueError as error:
        raise InputError(f"{name}: {error}; the model has diverged, take another") from error
