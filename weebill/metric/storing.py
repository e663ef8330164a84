"""Conversion of a metric's weights to int8 codes, one tensor after the other, as `metric.network` reads them."""

from collections.abc import Iterator

import torch
from torch import nn

from weebill.errors import InputError
from weebill.metric.network import is_stored, stored_names
from weebill.quantization.grids import grid_named
from weebill.tensor_files import Entry

GRID = grid_named("int8_rowwise")
ROWS = 16_384  # of a weight that are quantized at once


def entries(network: nn.Module) -> Iterator[Entry]:
    """Yield the tensors of a network whose encoder's weights `hold_stored` has; the network stays.

    Raises InputError if they are held so already.
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
            lambda rows=rows: torch.cat([GRID.quantize(one.float())[0] for one in rows]),
        )
        yield Entry(
            f"{base}.scale",
            torch.float32,
            (len(value),),
            lambda rows=rows: torch.cat([GRID.quantize(one.float())[1].flatten() for one in rows]),
        )
