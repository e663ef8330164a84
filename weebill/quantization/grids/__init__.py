"""Grids that weights are rounded to, by name, and their common base; each is loaded on first use.

A new grid is a file with a subclass of `Grid` and its settings, and an entry in `experiment.precisions`, which names
it.  Such a file imports torch inside functions only: a configuration is checked without it.
"""

from abc import ABC, abstractmethod
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal

from weebill.errors import InputError, nearest
from weebill.experiment import precisions
from weebill.registry import Registry
from weebill.settings import Amount, Count, Follows, Positive, section

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@section
class Finetuning:
    """Continued training with quantized weights and activations (WNGT20 §5)."""

    updates: Count = 6000
    """Updates of the fine-tuning."""
    learning_rate: Positive = 0.0001
    """Learning rate at its peak (WMT21 §3.4)."""
    warmup: Annotated[Amount, Follows("updates", 3)] = 16_000
    """Updates of the warm-up, at most ten times `updates`; the papers' fine-tunings end within it."""
    decay: Literal["inverse-sqrt", "linear"] = "inverse-sqrt"
    """Fall of the learning rate after the warm-up: with the inverse square root of the updates, or linearly to 0 at
    the last of `updates`."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Type of the arithmetic; `bfloat16` is faster, and rounds the values of the grid once more."""
    validate_every: Count | None = None
    """Updates between two validations, by default those of `training`. The weights of the best validation are kept; a
    fine-tuning without validation keeps its last update."""


class Grid(ABC):
    """Finite set of numbers per scale, and the rounding to it.

    A grid fits its scale to a tensor, encodes the tensor as small integer codes, and decodes codes again.  A scale
    has a shape that broadcasts with its tensor.  The defaults here are those of 8-bit grids with a scale per tensor.
    """

    name: str
    """Name in configurations and `config.json`."""
    integer: bool
    """True if codes are integers proportional to the values, so that products can run on codes."""
    settings: type
    """Class of the settings in a configuration."""
    finetuning: type = Finetuning
    """Class of the setting `finetune`."""
    sentence: str
    """Meaning of the grid's key in a configuration."""
    bytes_per_weight: float = 1.1
    """Bytes of a model folder for each weight, with scales and float32 biases, to estimate disk space."""

    @abstractmethod
    def fit(self, x: "Tensor") -> "Tensor":
        """Return the scale for a tensor, float32."""

    @abstractmethod
    def encode(self, x: "Tensor", scale: "Tensor") -> "Tensor":
        """Return the code of the grid's nearest number, element by element: int8, the shape of x."""

    @abstractmethod
    def decode(self, codes: "Tensor", scale: "Tensor") -> "Tensor":
        """Return the numbers that codes represent: float32, the shape of codes."""

    def pack(self, codes: "Tensor") -> "Tensor":
        """Return codes as they are stored."""
        return codes.contiguous()

    def unpack(self, packed: "Tensor", shape: tuple[int, ...]) -> "Tensor":
        """Undo `pack`: return int8 codes of the given shape."""
        return packed.view(shape)

    def packed_shape(self, shape: tuple[int, ...]) -> "tuple[tuple[int, ...], torch.dtype]":
        """Return shape and type of the result of `pack` for codes of a shape."""
        import torch

        return shape, torch.int8

    def scale_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the scale of a tensor of a shape."""
        return ()

    def quantize(self, x: "Tensor") -> "tuple[Tensor, Tensor]":
        """Return codes and fitted scale.  Raises ValueError if x is empty or not finite."""
        if not x.numel():
            raise ValueError("an empty tensor has no scale")
        if not bool(x.isfinite().all()):
            raise ValueError("a tensor with NaN or infinity cannot be quantized")
        scale = self.fit(x)
        return self.encode(x, scale), scale

    def round(self, x: "Tensor") -> "Tensor":
        """Move x to the nearest numbers of the grid fitted to it; keep x's type, without gradient."""
        x = x.detach()
        scale = self.fit(x)
        return self.decode(self.encode(x, scale), scale).to(x.dtype)


GRIDS: Registry[type[Grid]] = Registry(precisions.GRIDS)


@cache
def grid_named(name: str) -> Grid:
    """Return the grid of a name.  Raises InputError with the nearest valid name if there is none."""
    if name not in GRIDS:
        raise InputError(f"no quantization grid '{name}'{nearest(name, GRIDS)}")
    return GRIDS[name]()
