"""Weight tensors on a grid, trained under quantization or held packed; tied layers share one."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from weebill.quantization.grids import Grid
from weebill.quantization.grids.int8 import INT8_LIMIT
from weebill.quantization.integer import in_eights


class _StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, rounded: Tensor, passed: Callable[[], None] | None) -> Tensor:
        ctx.passed = passed
        return rounded.view_as(rounded)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None]:
        if ctx.passed is not None:
            ctx.passed()
        return grad, None, None


def straight_through(
    x: Tensor, rounded: Tensor, passed: Callable[[], None] | None = None
) -> Tensor:
    """Return exactly the values of `rounded`; the backward pass hands the gradient to x, and calls `passed`."""
    return _StraightThrough.apply(x, rounded, passed)


def fake_quantize_activations(x: Tensor, scale: Tensor) -> Tensor:
    """Round activations to code / scale with codes −127…127, straight-through also where they are clipped."""
    codes = (x.detach().float() * scale).round_().clamp_(-INT8_LIMIT, INT8_LIMIT)
    return straight_through(x, codes.div_(scale).to(x.dtype))


class FakeWeight(nn.Module):
    """Float32 master weight m that every use sees rounded to the grid; its gradient passes straight through.

    The rounded weight Q(m), with its scale, is a function of m alone, so a resumed training needs nothing else.  Log
    4-bit training is described with an error r_t that is added at the next update (Aji & Heafield 2020): after a step
    Δ_t, v = w_t + r_t + Δ_t, w_{t+1} = Q(v), r_{t+1} = v − w_{t+1}.  That is the same, because m_t = w_t + r_t gives
    m_{t+1} = v and w_t = Q(m_t), and Δ_t depends on the gradients at w_t alone.
    """

    in_training = True  # the rounded weight has other memory after each update

    def __init__(self, grid: Grid, weight: Tensor):
        super().__init__()
        self.grid = grid
        self.master = weight if isinstance(weight, nn.Parameter) else nn.Parameter(weight)
        self._rounded: tuple[tuple[int, int], Tensor] | None = None

    @property
    def shape(self) -> torch.Size:
        """Shape of the weight."""
        return self.master.shape

    def forward(self) -> Tensor:
        """Return the weight on the grid, float32, with a gradient to the master."""
        # A write increments the master's version, or gives it other memory.  Fused optimizers increment nothing,
        # so every gradient invalidates the rounded weight too, and so does every change of mode.
        state = (self.master._version, self.master.data_ptr())
        if self._rounded is None or self._rounded[0] != state:
            with torch.inference_mode(False), torch.no_grad():  # else training could not use it
                self._rounded = (state, self.grid.round(self.master.detach()))
        return straight_through(self.master, self._rounded[1], self.forget)

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

    def train(self, mode: bool = True) -> "FakeWeight":
        self.forget()
        return super().train(mode)


class PackedWeight(nn.Module):
    """Weight as packed codes and scale, both buffers: memory holds what the file stores.

    Products use the codes of integer grids; weights of other grids are decoded once, at first use.  A cast, such as
    `network.half()`, sets the type of the decoded numbers; the scale stays float32, so that codes keep their meaning.
    """

    def __init__(self, grid: Grid, shape: torch.Size, device: torch.device | None = None):
        super().__init__()
        self.grid, self.shape = grid, torch.Size(shape)
        packed_shape, dtype = grid.packed_shape(self.shape)
        self.register_buffer("codes", torch.zeros(packed_shape, dtype=dtype, device=device))
        self.register_buffer("scale", torch.ones(grid.scale_shape(self.shape), device=device))
        # Its type is the one that the weight was cast to last; scales do not show it, because they stay float32.
        self.register_buffer("_typed", torch.empty(0, device=device), persistent=False)
        self._decoded: Tensor | None = None
        self._in_eights: Tensor | None = None

    @property
    def dtype(self) -> torch.dtype:
        """Type of the decoded numbers."""
        return self._typed.dtype

    def integers(self) -> Tensor:
        """Return the codes, int8, of the weight's shape."""
        return self.grid.unpack(self.codes, self.shape)

    def factor(self) -> Tensor:
        """Return the codes for `integer_product`; on a GPU, they are padded once, as it needs them."""
        codes = self.integers()
        if codes.device.type != "cuda":
            return codes
        if self._in_eights is None or self._in_eights.device != codes.device:
            with torch.inference_mode(False):
                self._in_eights = in_eights(codes)
        return self._in_eights

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

    def become(self, other: "PackedWeight") -> None:
        """Take the numbers of a weight of the same shape and grid, in the same memory."""
        self.codes.copy_(other.codes)
        self.scale.copy_(other.scale)
        if self._decoded is not None:
            self._decoded.copy_(other())
        if self._in_eights is not None:
            self._in_eights[: self.shape[0], : self.shape[1]] = self.integers()

    def _apply(self, *arguments, **keywords) -> "PackedWeight":
        scale, dtype = self.scale, self.dtype
        super()._apply(*arguments, **keywords)
        if self.dtype != dtype:
            self._decoded = None
        self._in_eights = None
        self.scale = in_float32(self.scale, scale)
        return self

    def _load_from_state_dict(self, *arguments, **keywords) -> None:
        self._decoded = self._in_eights = None
        super()._load_from_state_dict(*arguments, **keywords)


def in_float32(moved: Tensor, before: Tensor) -> Tensor:
    """Return the scale of a moved or cast module in float32: the numbers of `before` on the device of `moved`."""
    return moved if moved.dtype == torch.float32 else before.to(moved.device)
