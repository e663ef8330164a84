"""Encoder without padding: the sentences of a batch are concatenated, and few states are kept.

Linear maps see all pieces of a batch at once; attention is that of `metric.attention`.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.activations import ACT2FN

from weebill.kernels.cuda import to_device
from weebill.kernels.int8_layers import Int8Linear, Int8Weight
from weebill.kernels.split_linear import inference_linear
from weebill.metric.attention import Attention, attention
from weebill.metric.lengths import Lengths
from weebill.metric.network import AFTER_PADDING, Map, Stored, StoredLinear
from weebill.quantization.grids import grid_named

GRID = grid_named("int8_rowwise")  # grid of int8 weights
FUSED = ("gelu", "relu")  # activations that a product can apply

# Adds an update to a state and normalises the sum: (update, state) → the result in float32 and in the products' type,
# (n, d) each.  The update may be overwritten.
AddNorm = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


class RaggedEncoder:
    """Encoder of COMET, whole or cut, for inference; weights are packed once and must not change."""

    def __init__(
        self,
        model: PreTrainedModel,
        dtype: torch.dtype,
        depth: int,
        device: torch.device,
        isa: str | None = None,
        *,
        stream: bool = False,
    ) -> None:
        """Pack a model; dtype: operands of the products, float32 or bfloat16; depth: number of lowest layers used.

        Residual sums and norms are always float32: rounding them would cause most of bfloat16's error.
        isa: an instruction set of `kernels.extension`, or portable; makes the layers' linear maps int8, with each
        piece's states quantized by their own largest magnitude.  stream: hold one packed layer at a time, and leave
        the embeddings as they are.  Raises ValueError if int8 weights are NaN or infinite.
        """
        self._ready, self._model, self.depth = _Ready(dtype, device, isa), model, depth
        ready, embeddings = self._ready, model.embeddings
        self._words = ready.table(embeddings.word_embeddings, stream)
        types = embeddings.token_type_embeddings.weight[:2, None].float()
        places = embeddings.position_embeddings.weight.float()
        self._positions = ready(places + types)  # (types, positions, d)
        # XLM-R-XL normalises after its last layer only; RemBERT's embeddings are narrower than its layers.
        norm, last = (getattr(one, "LayerNorm", None) for one in (embeddings, model.encoder))
        self._norm = nn.Identity() if norm is None else ready.norm(norm)
        self._last_norm = None if last is None else ready.norm(last)
        widen = getattr(model.encoder, "embedding_hidden_mapping_in", None)
        self._widen = None if widen is None else replace(ready, isa=None).product([widen])
        # XLM-R's positions begin after the id of its padding piece, and padding has none; BERT's begin at 0.
        self._padding = model.config.pad_token_id if isinstance(model, AFTER_PADDING) else -1
        self._layers = [] if stream else [self._packed(number) for number in range(depth)]
        self._streamed: tuple[int, _Layer] | None = None

    def states(self, pieces: Tensor, lengths: Lengths, types: Tensor | int = 0) -> Iterator[Tensor]:
        """Yield the float32 states (n, d) of the embeddings, then of each layer, for pieces (n,) of types (n,).

        pieces, types: on the CPU.  lengths: as `Lengths.on` returns them for the device.
        """
        places = []
        for group in lengths.split(pieces):
            real = (group != self._padding).long()
            places.append((self._padding + real.cumsum(1) * real).flatten())
        device = self._ready.device
        if isinstance(types, Tensor):
            types = to_device(types, device)
        positions = self._positions[types, to_device(torch.cat(places), device)]
        x = self._norm(self._words(pieces).add_(positions))
        if self._widen is not None:
            x = self._widen(x.to(self._ready.dtype)).float()
        yield x
        rounded = x.to(self._ready.dtype)
        for number in range(self.depth):
            x, rounded = self._layer(number)(x, rounded, lengths)
            if self._last_norm is not None and number + 1 == len(self._model.encoder.layer):
                yield self._last_norm(x)
            else:
                yield x

    def _packed(self, number: int) -> "_Layer":
        return _Layer(self._model.encoder.layer[number], self._ready)

    def _layer(self, number: int) -> "_Layer":
        """Return a packed layer; a streamed one is held until another is requested."""
        if self._layers:
            return self._layers[number]
        held = self._streamed
        if held is None or held[0] != number:
            self._streamed = held = None  # frees it before the next is packed
            self._streamed = held = number, self._packed(number)
        return held[1]


@dataclass(frozen=True)
class _Ready:
    """Converter of parameters to the objects of inference."""

    dtype: torch.dtype
    device: torch.device
    isa: str | None

    def __call__(self, parameter: Tensor) -> Tensor:
        return parameter.detach().to(self.device, self.dtype)

    def table(self, embedding: nn.Module, stream: bool) -> Map:
        """Return a function from numbers of rows, (n,) on the CPU, to a table's rows (n, d), float32 on the device.

        stream: leave the table where it is.
        """
        if isinstance(embedding, Stored):
            here = stream or self.device.type == "cpu"
            rows = (embedding if here else copy.deepcopy(embedding).to(self.device)).rows
        else:
            weight = embedding.weight.detach() if stream else self(embedding.weight)
            rows = weight.__getitem__
        if stream:
            return lambda pieces: to_device(rows(pieces), self.device).float()
        return lambda pieces: rows(to_device(pieces, self.device)).float()

    def attention(self, size: int) -> Attention:
        """Return the attention for a head size."""
        return attention(self.dtype, self.device, size)

    def add_norm(self, norm: nn.LayerNorm) -> AddNorm:
        """Return a function that adds and normalises over the features; one kernel on a GPU."""
        by_kernel = self.device.type == "cuda" and find_spec("triton") is not None
        if not by_kernel:
            return partial(add_then_norm, normalise=self.norm(norm))
        from weebill.kernels.add_norm import add_norm  # needs Triton

        place = {"device": self.device, "dtype": torch.float32}
        weight, bias = norm.weight.detach().to(**place), norm.bias.detach().to(**place)
        return partial(add_norm, weight=weight, bias=bias, epsilon=norm.eps)

    def norm(self, norm: nn.LayerNorm) -> Map:
        """Return a normalisation over the features, (n, d) → (n, d) in float32."""
        place = {"device": self.device, "dtype": torch.float32}
        weight, bias = norm.weight.detach().to(**place), norm.bias.detach().to(**place)
        options = {"normalized_shape": weight.shape, "weight": weight, "bias": bias}
        return partial(functional.layer_norm, **options, eps=norm.eps)

    def product(
        self,
        maps: Sequence[nn.Linear],
        activation: str | None = None,
        scales: Sequence[float] = (1,),
    ) -> Map:
        """Return one map that joins linear maps of one input, each multiplied by its scale; x (n, in) → (n, out)."""
        if self.isa is not None and all(isinstance(one, StoredLinear) for one in maps):
            codes = torch.cat([one.codes for one in maps])
            scale = torch.cat([one.scale / by for one, by in zip(maps, scales, strict=True)])
            bias = torch.cat([one.bias * by for one, by in zip(maps, scales, strict=True)])
            if codes.numel():
                return self._int8(codes, scale, bias.detach(), activation)
        scaled = list(zip(maps, scales, strict=True))
        weight = torch.cat([one.weight.detach().float() * scale for one, scale in scaled])
        bias = torch.cat([one.bias.detach().float() * scale for one, scale in scaled])
        if self.isa is None or not weight.numel():  # all heads or neurons are cut
            return inference_linear(self(weight), self(bias), activation)
        codes, scale = GRID.quantize(self(weight))
        return self._int8(codes, scale.flatten(), self(bias), activation)

    def _int8(self, codes: Tensor, scale: Tensor, bias: Tensor, activation: str | None) -> Map:
        held = Int8Weight(codes, scale, self.isa)
        return Int8Linear(held, nn.Parameter(bias), None, activation or "none")


class _Layer:
    """Self-attention and feed-forward, each followed by add and norm, or (XLM-R-XL) preceded by a norm."""

    def __init__(self, layer: nn.Module, ready: _Ready) -> None:
        self_attention, output = layer.attention.self, layer.attention.output
        self._dtype = ready.dtype
        self._heads = self_attention.num_attention_heads
        self._head_size = self_attention.attention_head_size
        self._attention = ready.attention(self._head_size)
        inward = [self_attention.query, self_attention.key, self_attention.value]
        self._qkv = ready.product(inward, scales=[self._attention.scale, 1, 1])
        self._out = ready.product([output.dense])
        before = getattr(layer.attention, "self_attn_layer_norm", None)
        self._norms_before = before is not None
        self._attention_norm = (
            ready.add_norm(output.LayerNorm) if before is None else ready.norm(before)
        )
        activation = layer.intermediate.intermediate_act_fn
        name = next((one for one in FUSED if type(ACT2FN[one]) is type(activation)), None)
        self._inner = ready.product([layer.intermediate.dense], name)
        self._activation = nn.Identity() if name else activation
        self._outer = ready.product([layer.output.dense])
        last = layer.output.LayerNorm if before is None else layer.LayerNorm
        self._norm = ready.add_norm(last) if before is None else ready.norm(last)

    def __call__(self, x: Tensor, rounded: Tensor, lengths: Lengths) -> tuple[Tensor, Tensor]:
        """Map x (n, d) in float32, and its copy in the products' type, to the next state and its copy."""
        if self._norms_before:
            normed = self._attention_norm(x).to(self._dtype)
            x = self._attended(normed, lengths).float().add_(x)
            x = self._fed(self._norm(x).to(self._dtype)).float().add_(x)
            return x, x  # the next layer rounds after its own norm
        x, rounded = self._attention_norm(self._attended(rounded, lengths), x)
        return self._norm(self._fed(rounded), x)

    def _attended(self, x: Tensor, lengths: Lengths) -> Tensor:
        """Attend: x (n, d) → (n, d), both in the products' type."""
        if not self._heads:
            return self._out(x.new_empty(len(x), 0))
        qkv = self._qkv(x).unflatten(-1, (3, self._heads, self._head_size))
        return self._out(self._attention.attend(qkv, lengths))

    def _fed(self, x: Tensor) -> Tensor:
        return self._outer(self._activation(self._inner(x)))


def add_then_norm(update: Tensor, state: Tensor, normalise: Map) -> tuple[Tensor, Tensor]:
    """Implement `AddNorm` by a normalisation, (n, d) → (n, d) in float32."""
    normed = normalise(update.float().add_(state))
    return normed, normed.to(update.dtype)
