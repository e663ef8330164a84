"""Float32 networks for export, and their comparison with a written export before the folder appears."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from weebill.translation.model.network import Translator
from weebill_runtime.architecture import Architecture
from weebill_runtime.vocabulary import EOS

TOLERANCE = 1e-3  # share of the largest score: allows another order of sums, not another sum
# The same for an engine that rounds: int8 of students 8 to 16 wide differs by up to 0.23.
COARSE = 0.3


@torch.no_grad()
def in_float32(network: Translator) -> Translator:
    """Return a network of plain layers with the decoded weights of a grid; its activations are not rounded."""
    plain = Translator(network.architecture)
    for name, parameter in plain.named_parameters():
        module, attribute = name.rsplit(".", 1)
        parameter.copy_(getattr(network.get_submodule(module), attribute))
    return plain.eval()


def same_tensors(
    found: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], folder: str | Path
) -> None:
    """Raise RuntimeError if the tensors read again differ by any bit from those written."""
    other = [name for name, array in expected.items() if found[name].tobytes() != array.tobytes()]
    if other:
        raise RuntimeError(f"{folder}: written otherwise than meant: {', '.join(other)}")


def close(found: Tensor, expected: Tensor, folder: str | Path) -> None:
    """Raise RuntimeError if the other engine's scores differ from ours."""
    if not alike(found, expected, TOLERANCE):
        worst, largest = float((found - expected).abs().max()), float(expected.abs().max())
        raise RuntimeError(
            f"{folder}: the other engine's scores differ by {worst:.2g}, ours reach {largest:.2g}; "
            "nothing was written"
        )


def alike(found: Tensor, expected: Tensor, tolerance: float) -> bool:
    """Return True if all scores are finite and none differs by more than `tolerance` times our largest."""
    worst, largest = float((found - expected).abs().max()), float(expected.abs().max())
    return worst <= tolerance * largest


def samples(shape: Architecture) -> tuple[Tensor, Tensor, Tensor]:
    """Return sources (b, s) with their mask, and beginnings of translations (b, t), spread over the vocabularies."""
    lengths, longest, steps = (1, 5, 12), 12, 3
    source = torch.zeros(len(lengths), longest, dtype=torch.long)
    mask = torch.arange(longest)[None] < torch.tensor(lengths)[:, None]
    numbers = torch.arange(source.numel() + steps * len(lengths)) * 7919
    pieces = numbers % (shape.vocabulary - 2) + 2
    source[mask] = (numbers % (shape.source_pieces - 2) + 2)[: int(mask.sum())]
    source[torch.arange(len(lengths)), torch.tensor(lengths) - 1] = EOS
    return source, mask, pieces[-steps * len(lengths) :].view(len(lengths), steps)
