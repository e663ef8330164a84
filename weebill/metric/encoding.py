"""Encoder without padding: the sentences of a batch are concatenated, and few states are kept.

Linear maps see all pieces of a batch at once; attention is computed for all sentences of one length together.
COMET mixes the states of all layers, m = Σ w_l · n(h_l), where n is the identity or a normalisation over the whole
sentence, and pools the pieces of m.  The mean and the first piece are linear: sums are accumulated layer by layer,
and the normalisation is applied to the resulting vector.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel, XLMRobertaModel
from transformers.activations import ACT2FN

from weebill.kernels.cpu_matmul import multiplies_bfloat16
from weebill.kernels.int8_layers import Int8Linear, Int8Weight
from weebill.kernels.split_linear import inference_linear
from weebill.metric.network import Architecture, Map
from weebill.quantization.grids import grid_named

FUSED = ("gelu", "relu")  # activations that a product can apply
GRID = grid_named("int8_rowwise")  # grid of int8 weights
EPSILON = 1e-12  # added to a variance


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
        isa: one of `kernels.extension`, or portable, makes the layers' linear maps int8; each piece's states are
        quantized by their own largest magnitude.  Raises ValueError if such weights are NaN or infinite.
        """
        ready = _Ready(dtype, device, isa)
        embeddings = model.embeddings
        self._words = ready(embeddings.word_embeddings.weight)
        self._positions = ready(
            embeddings.position_embeddings.weight + embeddings.token_type_embeddings.weight[0]
        )
        self._norm = ready.norm(embeddings.LayerNorm)
        # XLM-R counts positions from the one after its padding piece, and padding has none; BERT counts from 0.
        self._padding = model.config.pad_token_id if isinstance(model, XLMRobertaModel) else -1
        self._layers = [_Layer(layer, ready) for layer in model.encoder.layer[:depth]]

    def states(self, pieces: Tensor, lengths: Lengths) -> Iterator[Tensor]:
        """Yield for pieces (n,) the float32 states (n, d) of the embeddings, then of each layer."""
        places = []
        for group in lengths.split(pieces):
            real = (group != self._padding).long()
            places.append((self._padding + real.cumsum(1) * real).flatten())
        x = self._norm(self._words[pieces].float().add_(self._positions[torch.cat(places)]))
        yield x
        for layer in self._layers:
            x = layer(x, lengths)
            yield x


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
        scaled = list(zip(maps, scales, strict=True))
        weight = torch.cat([one.weight * scale for one, scale in scaled])
        bias = torch.cat([one.bias * scale for one, scale in scaled])
        if self.isa is None or not weight.numel():  # all heads or neurons are cut
            return inference_linear(self(weight), self(bias), activation)
        codes, scale = GRID.quantize(self(weight))
        held = Int8Weight(codes, scale.flatten(), self.isa)
        return Int8Linear(held, nn.Parameter(self(bias)), None, activation or "none")


class _Layer:
    """Self-attention and feed-forward, each followed by add and norm."""

    def __init__(self, layer: nn.Module, ready: _Ready) -> None:
        attention, output = layer.attention.self, layer.attention.output
        self._dtype, self._attention = ready.dtype, ready.attention
        self._heads, self._head_size = attention.num_attention_heads, attention.attention_head_size
        # Queries are scaled here: products of queries and keys are the attention's logits.
        inward = [attention.query, attention.key, attention.value]
        self._qkv = ready.product(inward, scales=[self._head_size**-0.5, 1, 1])
        self._out = ready.product([output.dense])
        self._attention_norm = ready.norm(output.LayerNorm)
        activation = layer.intermediate.intermediate_act_fn
        name = next((one for one in FUSED if type(ACT2FN[one]) is type(activation)), None)
        self._inner = ready.product([layer.intermediate.dense], name)
        self._activation = nn.Identity() if name else activation
        self._outer = ready.product([layer.output.dense])
        self._norm = ready.norm(layer.output.LayerNorm)

    def __call__(self, x: Tensor, lengths: Lengths) -> Tensor:
        """Map x (n, d) → (n, d), both in float32."""
        attended = self._out(self._attend(x.to(self._dtype), lengths))
        x = self._attention_norm(attended.float().add_(x))
        outer = self._outer(self._activation(self._inner(x.to(self._dtype))))
        return self._norm(outer.float().add_(x))

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


def pool_states(
    states: Iterable[Tensor],
    weights: Tensor,
    pieces: Tensor,
    lengths: Lengths,
    architecture: Architecture,
    pad: int | None,
) -> Tensor:
    """Return the vectors (sentences, d) of a batch.

    states: (n, d) in float32, the embeddings' and each layer's, with weights (states,).  pieces: (n,).
    pad: the padding piece, which a text may contain; it counts in a sentence's length, but not in its sum.
    """
    first = architecture.pool in ("cls", "default")
    norm = (
        architecture.layer_norm and architecture.layer == "mix" and architecture.pool != "default"
    )
    hidden = None if pad is None or first else (pieces == pad)[:, None]
    if hidden is not None and not hidden.any():
        hidden = None
    weighted = zip(weights.tolist(), states, strict=True)
    if architecture.pool == "max":
        mixed = sum(w * (_normalised(state, lengths) if norm else state) for w, state in weighted)
        if hidden is not None:
            mixed = mixed.masked_fill(hidden, -torch.inf)
        return torch.cat([one.amax(1) for one in lengths.split(mixed)])
    shares = 1  # of the pieces that count, in each sentence
    if hidden is not None:
        shares = torch.cat([one.mean(1) for one in lengths.split((~hidden).float())])
    vectors = 0
    for weight, state in weighted:
        groups = lengths.split(state if hidden is None else state.masked_fill(hidden, 0))
        vector = torch.cat([one[:, 0] if first else one.mean(1) for one in groups])
        if norm:
            deviation, mean = _spread(state, lengths)
            vector = (vector - shares * mean) / deviation
        vectors = vectors + weight * vector
    return vectors


def _spread(state: Tensor, lengths: Lengths) -> tuple[Tensor, Tensor]:
    """Return standard deviation and mean of all numbers of a sentence's state, each (sentences, 1)."""
    groups = lengths.split(state)
    found = [torch.var_mean(one, (1, 2), correction=0, keepdim=True) for one in groups]
    variance, mean = (torch.cat(one).squeeze(2) for one in zip(*found, strict=True))
    return (variance + EPSILON).sqrt(), mean


def _normalised(state: Tensor, lengths: Lengths) -> Tensor:
    """Normalise a state (n, d) to mean 0 and deviation 1 over the numbers of each sentence."""
    repeats = [length for count, length in lengths.groups for _ in range(count)]
    each = torch.tensor(repeats, device=state.device)
    deviation, mean = (one.repeat_interleave(each, 0) for one in _spread(state, lengths))
    return (state - mean) / deviation
