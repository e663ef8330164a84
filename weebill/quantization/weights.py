"""Weight tensors on a grid, trained under quantization or held packed; tied layers share one."""

import torch
from torch import Tensor, nn

from weebill.quantization.grid import Grid


class _Rounded(torch.autograd.Function):
    """Straight-through rounding that notifies its weight when a gradient passes back through it."""

    @staticmethod
    def forward(ctx, master: Tensor, rounded: Tensor, weight: "FakeWeight") -> Tensor:
        ctx.weight = weight
        return rounded.view_as(rounded)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None]:
        ctx.weight.forget()
        return grad, None, None


class FakeWeight(nn.Module):
    """Float32 master weight that every use sees rounded to the grid; its gradient passes straight through.

    The rounded weight is computed once for all uses, and anew when the master may have changed, with its
    scale fitted anew: it is a function of the master alone, so a resumed training needs nothing else.
    """

    def __init__(self, grid: Grid, weight: Tensor):
        super().__init__()
        self.grid = grid
        self.master = weight if isinstance(weight, nn.Parameter) else nn.Parameter(weight)
        self._rounded: tuple[tuple[int, int], Tensor] | None = None

    @property
    def shape(self) -> torch.Size:
        """The shape of the weight."""
        return self.master.shape

    def forward(self) -> Tensor:
        """Return the weight on the grid, float32, with a gradient to the master."""
        return _Rounded.apply(self.master, self._current(), self)

    def packed(self) -> "PackedWeight":
        """Return the same numbers as codes."""
        codes, scale = self.grid.quantize(self.master.detach())
        weight = PackedWeight(self.grid, self.shape, device=codes.device)
        weight.codes.copy_(self.grid.pack(codes))
        weight.scale.copy_(scale)
        return weight

    def forget(self) -> None:
        """Round anew at the next use."""
        self._rounded = None

    def _current(self) -> Tensor:
        # A write increments the master's version, or gives it other memory.  Fused optimizers increment nothing,
        # so every gradient invalidates the rounded weight too, and so does every change of mode.
        state = (self.master._version, self.master.data_ptr())
        if self._rounded is None or self._rounded[0] != state:
            with torch.inference_mode(False), torch.no_grad():  # else training could not use it
                self._rounded = (state, self.grid.round(self.master.detach()))
        return self._rounded[1]

    def train(self, mode: bool = True) -> "FakeWeight":
        """Set the mode, as for any module."""
        self.forget()
        return super().train(mode)


class PackedWeight(nn.Module):
    """Weight as packed codes and scale, both buffers: memory holds what the file stores.

    A grid of integers is multiplied by its codes; others are decoded once, at first use.  A cast, such as
    `network.half()`, sets the type of the decoded numbers.  The scale stays float32, so that no code changes its
    meaning and casting back loses nothing.
    """

    def __init__(self, grid: Grid, shape: torch.Size, device: torch.device | None = None):
        super().__init__()
        self.grid, self.shape = grid, torch.Size(shape)
        packed_shape, dtype = grid.packed_shape(self.shape)
        self.register_buffer("codes", torch.zeros(packed_shape, dtype=dtype, device=device))
        self.register_buffer("scale", torch.ones(grid.scale_shape(self.shape), device=device))
        # Its type is the one that the weight was cast to last; scales do not show it, as they stay float32.
        self.register_buffer("_typed", torch.empty(0, device=device), persistent=False)
        self._decoded: Tensor | None = None

    @property
    def dtype(self) -> torch.dtype:
        """The type of the decoded numbers."""
        return self._typed.dtype

    def integers(self) -> Tensor:
        """Return the codes, int8, of the weight's shape."""
        return self.grid.unpack(self.codes, self.shape)

    def forward(self) -> Tensor:
        """Return the weight's numbers, float32 or the type that the weight was cast to."""
        if self.grid.integer:
            return self.grid.decode(self.integers(), self.scale).to(self.dtype)
        if self._decoded is None or self._decoded.device != self.codes.device:
            with torch.inference_mode(False):
                self._decoded = self.grid.decode(self.integers(), self.scale).to(self.dtype)
        return self._decoded

    def rows(self, indices: Tensor) -> Tensor:
        """Return the numbers of some rows of a weight (rows, columns), in `dtype`: (…, columns) for indices (…)."""
        if not self.grid.integer:
            return nn.functional.embedding(indices, self())
        scale = self.scale if not self.scale.dim() else self.scale[indices]
        return self.grid.decode(self.integers()[indices], scale).to(self.dtype)

    def select(self, indices: Tensor) -> "PackedWeight":
        """Return some rows (n,) of a weight (rows, columns) as a weight of their own."""
        chosen = PackedWeight(self.grid, (len(indices), *self.shape[1:]), self.codes.device)
        chosen.codes.copy_(self.grid.pack(self.integers()[indices]))
        chosen.scale.copy_(self.scale[indices] if self.scale.dim() else self.scale)
        return chosen.to(self.dtype)

    def _apply(self, *arguments, **keywords) -> "PackedWeight":
        scale, dtype = self.scale, self.dtype
        super()._apply(*arguments, **keywords)
        if self.dtype != dtype:
            self._decoded = None
        self.scale = in_float32(self.scale, scale)
        return self

    def _load_from_state_dict(self, *arguments, **keywords) -> None:
        self._decoded = None
        super()._load_from_state_dict(*arguments, **keywords)


def in_float32(moved: Tensor, before: Tensor) -> Tensor:
    """Return the scale of a moved or cast module in float32: the numbers of `before` on the device of `moved`."""
    return moved if moved.dtype == torch.float32 else before.to(moved.device)
