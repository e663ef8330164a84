"""Encoder without padding: the sentences of a batch are concatenated.

Linear maps see all pieces of a batch at once; attention is computed for all sentences of one length together.
Sums for the sentence vectors are accumulated layer by layer (`pooling`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel, XLMRobertaModel
from transformers.activations import ACT2FN

from weebill.kernels.cpu_matmul import multiplies_bfloat16
from weebill.kernels.int8_layers import Int8Linear, Int8Weight
from weebill.kernels.split_linear import inference_linear
from weebill.quantization.grids import grid_named

FUSED = ("gelu", "relu")  # activations that a product can apply
GRID = grid_named("int8_rowwise")  # grid of int8 weights


@dataclass(frozen=True)
class Lengths:
    """Division of the n pieces of a batch into sentences, the shorter ones first.

    groups: (sentences, length) for each length.
    """

    groups: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, sentences: Sequence[Sequence[int]]) -> "Lengths":
        """Group sentences, which are in order of length.  Raises ValueError if they are not."""
        lengths = [len(sentence) for sentence in sentences]
        if lengths != sorted(lengths):
            raise ValueError("sentences are not in the order of their lengths")
        return cls(tuple((count, length) for length, count in Counter(lengths).items()))

    def split(self, x: Tensor) -> Iterator[Tensor]:
        """Split x (n, …) into one (sentences, length, …) for each length."""
        start = 0
        for count, length in self.groups:
            yield x[start : start + count * length].unflatten(0, (count, length))
            start += count * length


class RaggedEncoder:
    """Encoder of XLM-R or BERT, whole or cut, for inference; weights are packed once and must not change."""

    def __init__(
        self,
        model: PreTrainedModel,
        dtype: torch.dtype,
        depth: int,
        device: torch.device,
        isa: str | None = None,
    ) -> None:
        """Pack a model; dtype: operands of the products, float32 or bfloat16; depth: number of lowest layers used.

        Residual sums and norms are always float32: rounding them would be most of bfloat16's error.

        isa: one of `kernels.extension`, or portable, makes the layers' linear maps int8.  Each piece's states are
        quantized by their own largest magnitude; all other computations are in float32.
        Raises ValueError if such weights are NaN or infinite.
        """
        ready = _Ready(dtype, device, isa)
        embeddings = model.embeddings
        self._words = ready(embeddings.word_embeddings.weight)
        self._positions = ready(
            embeddings.position_embeddings.weight + embeddings.token_type_embeddings.weight[0]
        )
        self._norm = _Norm(embeddings.LayerNorm, ready)
        # XLM-R counts positions from the one after its padding piece; padding has none.
        self._padding = model.config.pad_token_id if isinstance(model, XLMRobertaModel) else None
        self._layers = [_Layer(layer, ready) for layer in model.encoder.layer[:depth]]

    def states(self, pieces: Tensor, lengths: Lengths) -> Iterator[Tensor]:
        """Yield for pieces (n,) the float32 states (n, d) of the embeddings, then of each layer."""
        places = torch.cat([one.flatten() for one in self._places(pieces, lengths)])
        x = self._norm(self._words[pieces].float().add_(self._positions[places]))
        yield x
        for layer in self._layers:
            x = layer(x, lengths)
            yield x

    def _places(self, pieces: Tensor, lengths: Lengths) -> Iterator[Tensor]:
        """Return the position of each piece."""
        for group in lengths.split(pieces):
            if self._padding is None:
                yield torch.arange(group.shape[1], device=pieces.device).expand(group.shape)
            else:
                real = (group != self._padding).long()
                yield self._padding + real.cumsum(1) * real


@dataclass(frozen=True)
class _Ready:
    """Converter of parameters to the objects of inference."""

    dtype: torch.dtype
    device: torch.device
    isa: str | None

    def __call__(self, parameter: Tensor) -> Tensor:
        return parameter.detach().to(self.device, self.dtype)

    @property
    def attention(self) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
        """Attention of queries, keys and values, (b, heads, length, size) each → (b, heads, length, size)."""
        if self.dtype != torch.bfloat16 or self.device.type != "cpu":
            return _attention
        return _rounded_attention if multiplies_bfloat16() else _widened_attention

    def product(
        self,
        maps: Sequence[nn.Linear],
        activation: str | None = None,
        scales: Sequence[float] | None = None,
    ) -> Callable[[Tensor], Tensor]:
        """Return linear maps of one input as one map, each multiplied by its scale; x (n, in) → (n, out)."""
        weight, bias = (
            torch.cat(
                [
                    getattr(one, name) * scale
                    for one, scale in zip(maps, scales or [1] * len(maps), strict=True)
                ]
            )
            for name in ("weight", "bias")
        )
        if self.isa is None or not weight.numel():  # all heads or neurons are cut
            return inference_linear(self(weight), self(bias), activation)
        codes, scale = GRID.quantize(self(weight))
        held = Int8Weight(codes, scale.flatten(), self.isa)
        return Int8Linear(held, nn.Parameter(self(bias)), None, activation or "none")


class _Layer:
    """Self-attention and feed-forward, each followed by add and norm."""

    def __init__(self, layer: nn.Module, ready: _Ready) -> None:
        attention, output = layer.attention.self, layer.attention.output
        self._dtype = ready.dtype
        self._heads, self._head_size = attention.num_attention_heads, attention.attention_head_size
        # Queries are scaled here: products of queries and keys are the attention's logits.
        self._qkv = ready.product(
            [attention.query, attention.key, attention.value],
            scales=[self._head_size**-0.5, 1, 1],
        )
        self._attention = ready.attention
        self._out = ready.product([output.dense])
        self._attention_norm = _Norm(output.LayerNorm, ready)
        name = {ACT2FN[name].__class__: name for name in FUSED}.get(
            type(layer.intermediate.intermediate_act_fn)
        )
        self._inner = ready.product([layer.intermediate.dense], name)
        self._activation = nn.Identity() if name else layer.intermediate.intermediate_act_fn
        self._outer = ready.product([layer.output.dense])
        self._norm = _Norm(layer.output.LayerNorm, ready)

    def __call__(self, x: Tensor, lengths: Lengths) -> Tensor:
        """Map x (n, d) → (n, d), both in float32."""
        attended = self._out(self._attend(x.to(self._dtype), lengths))
        x = self._attention_norm(attended.float().add_(x))
        outer = self._outer(self._activation(self._inner(x.to(self._dtype))))
        return self._norm(outer.float().add_(x))

    def _attend(self, x: Tensor, lengths: Lengths) -> Tensor:
        """Attend: x (n, d) → (n, heads · head_size)."""
        context = x.new_empty(len(x), self._heads * self._head_size)
        if not self._heads:
            return context
        for qkv, place in zip(
            lengths.split(self._qkv(x)), lengths.split(context), strict=True
        ):  # (b, length, 3 · a), (b, length, a)
            q, k, v = qkv.unflatten(-1, (3, self._heads, self._head_size)).permute(2, 0, 3, 1, 4)
            place.copy_(self._attention(q, k, v).transpose(1, 2).flatten(2))
        return context


def _attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(q, k, v, scale=1.0)


def _rounded_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attend in bfloat16 by plain products, on processors twice as fast as the library's fused kernel."""
    shares = torch.softmax(q @ k.transpose(-1, -2), -1, dtype=torch.float32)
    return shares.to(v.dtype) @ v


def _widened_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attend with bfloat16 numbers in float32, for processors that cannot multiply bfloat16."""
    return _attention(q.float(), k.float(), v.float())


class _Norm:
    """Normalisation over the features."""

    def __init__(self, norm: nn.LayerNorm, ready: _Ready) -> None:
        self._weight, self._bias = (
            value.detach().to(ready.device, torch.float32) for value in (norm.weight, norm.bias)
        )
        self._eps = norm.eps

    def __call__(self, x: Tensor) -> Tensor:
        """Map x (n, d) → (n, d)."""
        return functional.layer_norm(x, x.shape[-1:], self._weight, self._bias, self._eps)
