"""Module swap: a model's linear maps and embedding tables are put on a grid (WNGT20 §5, WMT21 §3.4).

The swap looks at module types only, so it serves every family whose layers are `nn.Linear` and `nn.Embedding` and are
called as modules; a subclass with a forward of its own is left alone.  Products outside of layers (the attention's
QKᵀ and AV) stay float32.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from weebill.quantization.grids import grid_named
from weebill.quantization.integer import integer_product
from weebill.quantization.weights import (
    FakeWeight,
    PackedWeight,
    fake_quantize_activations,
    in_float32,
)

Weight = FakeWeight | PackedWeight


class _OnGrid(nn.Module):
    """Layer whose weight is on a grid, perhaps shared with other layers."""

    def __init__(self, quantized: Weight, owner: bool):
        super().__init__()
        self.owner = owner
        self.hold(quantized)

    def hold(self, quantized: Weight) -> None:
        """Take a weight.  Only its owner lists it as a submodule, so that states and files hold it once."""
        if self.owner:
            self.quantized = quantized
        else:
            object.__setattr__(self, "quantized", quantized)

    @property
    def weight(self) -> Tensor:
        """The weight's present numbers on the grid, in its own shape: float32 unless it was cast."""
        return self.quantized()


class QuantizedLinear(_OnGrid):
    """Linear map whose weight (out, in) is on a grid; its bias is not.

    With an activation scale, the input is quantized too, to code / scale (WNGT20 §5.1), and packed weights of an
    integer grid are multiplied as integers, y = Σ codes·codes / (scales) + bias.  Other products have the type that
    the map was cast to, which is also the type of inputs and outputs; scales stay float32.
    """

    def __init__(
        self,
        quantized: Weight,
        bias: nn.Parameter | None,
        activation_scale: float | None,
        owner: bool = True,
    ):
        super().__init__(quantized, owner)
        self.register_parameter("bias", bias)
        scale = None if activation_scale is None else torch.tensor(float(activation_scale))
        self.register_buffer("activation_scale", scale)

    @property
    def out_features(self) -> int:
        """Width of the output."""
        return self.quantized.shape[0]

    @property
    def in_features(self) -> int:
        """Width of the input."""
        return self.quantized.shape[1]

    def forward(self, x: Tensor) -> Tensor:
        """Map x (…, in) → (…, out) of x's type; sums are float32, products exact if both sides are integers."""
        packed = isinstance(self.quantized, PackedWeight) and self.quantized.grid.integer
        if not packed or self.activation_scale is None:
            return functional.linear(*self.operands(x))
        codes = grid_named("int8").encode(x.reshape(-1, self.in_features), self.activation_scale)
        products = integer_product(codes, self.quantized.factor(), self.out_features)  # (n, out)
        step = 1 / (self.activation_scale * self.quantized.scale)  # () or (out, 1)
        y = products.to(torch.float32) * (step if not step.dim() else step.squeeze(1))
        y = y if self.bias is None else y + self.bias
        return y.to(x.dtype).view(*x.shape[:-1], self.out_features)

    def operands(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return the operands of a floating-point product: x (…, in) and weight (out, in) rounded, bias (out,)."""
        if self.activation_scale is not None:
            x = fake_quantize_activations(x, self.activation_scale)
        return x, self.quantized(), self.bias

    def _apply(self, *arguments, **keywords) -> "QuantizedLinear":
        scale = self.activation_scale
        super()._apply(*arguments, **keywords)
        if scale is not None:
            self.activation_scale = in_float32(self.activation_scale, scale)
        return self

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, grid={self.quantized.grid.name}"


class QuantizedEmbedding(_OnGrid):
    """Embedding table (rows, width) on a grid."""

    def __init__(self, quantized: Weight, padding_idx: int | None = None, owner: bool = True):
        super().__init__(quantized, owner)
        self.padding_idx = padding_idx

    @property
    def num_embeddings(self) -> int:
        """Number of rows."""
        return self.quantized.shape[0]

    @property
    def embedding_dim(self) -> int:
        """Width of a row."""
        return self.quantized.shape[1]

    def forward(self, indices: Tensor) -> Tensor:
        """Look up indices (…) → (…, width)."""
        if isinstance(self.quantized, PackedWeight):
            return self.quantized.rows(indices)
        return functional.embedding(indices, self.quantized(), self.padding_idx)


def quantize_model(
    model: nn.Module,
    grid: str,
    scales: Mapping[str, float] | None = None,
    skip: Sequence[str] = (),
    mode: Literal["fake", "packed", "empty"] = "packed",
) -> nn.Module:
    """Put a model's linear maps and embeddings on the grid of that name, in place; return the model.

    scales: activation scale of each linear module by its name, None to leave activations float32.  skip: patterns of
    names of modules to leave alone.  mode: `fake` trains under quantization, `packed` holds codes, `empty` has codes
    and scales still to be loaded.  A weight that several modules share stays shared.  Empty weights stay as they are.
    Raises ValueError for a linear map without a scale, a scale without a map, or a weight only partly quantized.
    """
    numbers = grid_named(grid)
    if scales is not None:
        names = {name for name, _ in quantizable_linears(model, skip)}
        if missing := sorted(names - set(scales)):
            raise ValueError(f"no activation scale for {', '.join(missing)}; calibrate this model")
        if surplus := ", ".join(sorted(set(scales) - names)):
            raise ValueError(f"activation scales for {surplus}, which the model does not have")
    chosen = {
        name: module
        for name, module in model.named_modules()
        if _chosen(name, module, skip, nn.Linear, nn.Embedding)
    }
    _check_shared(model, chosen)
    weights: dict[nn.Parameter, Weight] = {}  # one for each distinct parameter
    swapped: dict[nn.Module, nn.Module] = {}
    for name, module in chosen.items():
        owner = module.weight not in weights
        if owner and mode == "empty":
            shape, device = module.weight.shape, module.weight.device
            weights[module.weight] = PackedWeight(numbers, shape, device)
        elif owner:
            fake = FakeWeight(numbers, module.weight)
            weights[module.weight] = fake if mode == "fake" else fake.packed()
        weight = weights[module.weight]
        if isinstance(module, nn.Linear):
            scale = None if scales is None else scales[name]
            swapped[module] = QuantizedLinear(weight, module.bias, scale, owner)
        else:
            swapped[module] = QuantizedEmbedding(weight, module.padding_idx, owner)
        swapped[module].train(module.training).to(module.weight.device)
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):  # every place, shared modules too
            if child in swapped:
                setattr(parent, name, swapped[child])
    return swapped.get(model, model)


def fake_quantization(
    grid: str, scales: Mapping[str, float] | None = None
) -> Callable[[nn.Module], None]:
    """Return the `transform` that a training, without exponential smoothing, applies to its network first."""

    def transform(network: nn.Module) -> None:
        quantize_model(network, grid, scales, mode="fake")

    return transform


@torch.no_grad()
def round_biases(model: nn.Module, grid: str) -> None:
    """Round every bias of a model to the grid of that name, each with a scale of its own; they stay float32."""
    for name, parameter in model.named_parameters():
        if name.rpartition(".")[2] == "bias" and parameter.numel():
            parameter.copy_(grid_named(grid).round(parameter))


def pack_model(model: nn.Module) -> nn.Module:
    """Turn a model in fake mode into packed mode, in place: same numbers, same scales; returns the model."""
    packed: dict[FakeWeight, PackedWeight] = {}
    for module in list(model.modules()):
        if isinstance(module, _OnGrid) and isinstance(module.quantized, FakeWeight):
            fake = module.quantized
            packed[fake] = packed.get(fake) or fake.packed()
            module.hold(packed[fake])
    return model


def quantizable_linears(
    model: nn.Module, skip: Sequence[str] = ()
) -> Iterator[tuple[str, nn.Linear]]:
    """Yield the linear maps that `quantize_model` replaces, with their names; a shared module comes once."""
    for name, module in model.named_modules():
        if _chosen(name, module, skip, nn.Linear):
            yield name, module


@contextmanager
def inputs_watched(model: nn.Module, see: Callable[[str, Tensor], None]) -> Iterator[None]:
    """Call `see`, within the context, with the name and each input, detached, of those linear maps."""
    with ExitStack() as stack:
        for name, module in quantizable_linears(model):
            hook = module.register_forward_pre_hook(
                lambda _module, arguments, name=name: see(name, arguments[0].detach())
            )
            stack.callback(hook.remove)
        yield


def _chosen(name: str, module: nn.Module, skip: Sequence[str], *kinds: type[nn.Module]) -> bool:
    """Return True if a module computes what one of the kinds does, has weights, and is not to be skipped."""
    alike = any(isinstance(module, one) and type(module).forward is one.forward for one in kinds)
    return alike and module.weight.numel() > 0 and not any(fnmatchcase(name, p) for p in skip)


def _check_shared(model: nn.Module, chosen: Mapping[str, nn.Module]) -> None:
    """Raise ValueError if a weight would stay float32 in one module and be quantized in another."""
    swapped = {module.weight: name for name, module in chosen.items()}
    for name, module in model.named_modules():
        for parameter in () if name in chosen else module.parameters(recurse=False):
            if parameter in swapped:
                message = f"{swapped[parameter]} shares its weight with {name}, which is left alone; skip both"
                raise ValueError(message)
