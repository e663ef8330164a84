"""Encoder without padding: the sentences of a batch are concatenated, and few states are kept.

Linear maps see all pieces of a batch at once; attention is computed for all sentences of one length together.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.activations import ACT2FN

from weebill.kernels.cpu_matmul import multiplies_bfloat16
from weebill.kernels.int8_layers import Int8Linear, Int8Weight
from weebill.kernels.split_linear import inference_linear
from weebill.metric.network import AFTER_PADDING, Map, Stored, StoredLinear
from weebill.quantization.grids import grid_named

GRID = grid_named("int8_rowwise")  # grid of int8 weights
FUSED = ("gelu", "relu")  # activations that a product can apply


class Lengths:
    """Division of the n pieces of a batch into groups of sentences of one length, the shorter ones first."""

    def __init__(self, sentences: Sequence[Sequence[int]]) -> None:
        """Group sentences, which are in order of length.  Raises ValueError if they are not."""
        lengths = [len(sentence) for sentence in sentences]
        if lengths != sorted(lengths):
            raise ValueError("sentences are not in the order of their lengths")
        self.groups = [(count, length) for length, count in Counter(lengths).items()]

    def split(self, x: Tensor) -> Iterator[Tensor]:
        """Split x (n, …) into one (sentences, length, …) for each length."""
        parts = x.split([count * length for count, length in self.groups])
        for part, group in zip(parts, self.groups, strict=True):
            yield part.unflatten(0, group)


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

        Residual sums and norms are always float32: rounding them would be most of bfloat16's error.
        isa: one of `kernels.extension`, or portable, makes the layers' linear maps int8; each piece's states are
        quantized by their own largest magnitude.  stream: hold one packed layer at a time, and the embeddings as they
        are.  Raises ValueError if int8 weights are NaN or infinite.
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
        # XLM-R counts positions from the one after its padding piece, and padding has none; BERT counts from 0.
        self._padding = model.config.pad_token_id if isinstance(model, AFTER_PADDING) else -1
        self._layers = [] if stream else [self._packed(number) for number in range(depth)]
        self._streamed: tuple[int, _Layer] | None = None

    def states(self, pieces: Tensor, lengths: Lengths, types: Tensor | int = 0) -> Iterator[Tensor]:
        """Yield for pieces (n,), of types (n,), the float32 states (n, d) of the embeddings, then of each layer."""
        places = []
        for group in lengths.split(pieces):
            real = (group != self._padding).long()
            places.append((self._padding + real.cumsum(1) * real).flatten())
        x = self._norm(self._words(pieces).add_(self._positions[types, torch.cat(places)]))
        if self._widen is not None:
            x = self._widen(x.to(self._ready.dtype)).float()
        yield x
        for number in range(self.depth):
            x = self._layer(number)(x, lengths)
            if self._last_norm is not None and number + 1 == len(self._model.encoder.layer):
                yield self._last_norm(x)
            else:
                yield x

    def _packed(self, number: int) -> "_Layer":
        return _Layer(self._model.encoder.layer[number], self._ready)

    def _layer(self, number: int) -> "_Layer":
        """Return a packed layer; the one streamed last is held until another is asked for."""
        if self._layers:
            return self._layers[number]
        if self._streamed is None or self._streamed[0] != number:
            self._streamed = None  # frees it before the next is packed
            self._streamed = number, self._packed(number)
        return self._streamed[1]


@dataclass(frozen=True)
class _Ready:
    """Converter of parameters to the objects of inference."""

    dtype: torch.dtype
    device: torch.device
    isa: str | None

    def __call__(self, parameter: Tensor) -> Tensor:
        return parameter.detach().to(self.device, self.dtype)

    def table(self, embedding: nn.Module, stream: bool) -> Map:
        """Return the rows of a table by their numbers, (n,) → (n, d) in float32; stream: leave it where it is."""
        if isinstance(embedding, Stored):
            return (embedding if stream else embedding.to(self.device)).rows
        weight = embedding.weight.detach() if stream else self(embedding.weight)
        return lambda pieces: weight[pieces.to(weight.device)].to(pieces.device).float()

    @property
    def attention(self) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
        """Attention of queries, keys and values, (b, heads, length, size) each → (b, heads, length, size)."""
        if self.dtype != torch.bfloat16 or self.device.type != "cpu":
            return _attention
        return _rounded_attention if multiplies_bfloat16() else _widened_attention

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
        """Return linear maps of one input as one map, each multiplied by its scale; x (n, in) → (n, out)."""
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
    """Self-attention and feed-forward, each followed by add and norm, or (XLM-R-XL) by add and after a norm."""

    def __init__(self, layer: nn.Module, ready: _Ready) -> None:
        attention, output = layer.attention.self, layer.attention.output
        self._dtype, self._attention = ready.dtype, ready.attention
        self._heads, self._head_size = attention.num_attention_heads, attention.attention_head_size
        # Queries are scaled here: products of queries and keys are the attention's logits.
        inward = [attention.query, attention.key, attention.value]
        self._qkv = ready.product(inward, scales=[self._head_size**-0.5, 1, 1])
        self._out = ready.product([output.dense])
        before = getattr(layer.attention, "self_attn_layer_norm", None)
        self._norms_before = before is not None
        self._attention_norm = ready.norm(output.LayerNorm if before is None else before)
        activation = layer.intermediate.intermediate_act_fn
        name = next((one for one in FUSED if type(ACT2FN[one]) is type(activation)), None)
        self._inner = ready.product([layer.intermediate.dense], name)
        self._activation = nn.Identity() if name else activation
        self._outer = ready.product([layer.output.dense])
        self._norm = ready.norm(layer.output.LayerNorm if before is None else layer.LayerNorm)

    def __call__(self, x: Tensor, lengths: Lengths) -> Tensor:
        """Map x (n, d) → (n, d), both in float32."""
        if self._norms_before:
            x = self._attended(self._attention_norm(x), lengths).add_(x)
            return self._fed(self._norm(x)).add_(x)
        x = self._attention_norm(self._attended(x, lengths).add_(x))
        return self._norm(self._fed(x).add_(x))

    def _attended(self, x: Tensor, lengths: Lengths) -> Tensor:
        return self._out(self._attend(x.to(self._dtype), lengths)).float()

    def _fed(self, x: Tensor) -> Tensor:
        return self._outer(self._activation(self._inner(x.to(self._dtype)))).float()

    def _attend(self, x: Tensor, lengths: Lengths) -> Tensor:
        """Attend: x (n, d) → (n, heads · head_size)."""
        if not self._heads:
            return x.new_empty(len(x), 0)
        found = []
        for qkv in lengths.split(self._qkv(x)):  # (b, length, 3 · a)
            q, k, v = qkv.unflatten(-1, (3, self._heads, self._head_size)).permute(2, 0, 3, 1, 4)
            found.append(self._attention(q, k, v).transpose(1, 2).flatten(2).flatten(0, 1))
        return torch.cat(found).to(x.dtype)


_attention = partial(functional.scaled_dot_product_attention, scale=1.0)


def _rounded_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attend in bfloat16 by plain products, on processors twice as fast as the library's fused kernel."""
    shares = torch.softmax(q @ k.transpose(-1, -2), -1, dtype=torch.float32)
    return shares.to(v.dtype) @ v


def _widened_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attend with bfloat16 numbers in float32, for processors that cannot multiply bfloat16."""
    return _attention(q.float(), k.float(), v.float())
