"""Layers of students and teachers: attention, SSRU, feed-forward, and their post-norm blocks.

Shapes: b sentences, s source positions, t target positions, d embedding width, h heads, k head size.
"""

import warnings
from importlib.util import find_spec

import torch
from torch import Tensor, nn
from torch.nn import functional

from weebill.pruning.structure import Recorder
from weebill.translation.model.decoder_state import appended
from weebill_runtime.architecture import LayerShape

HAS_TRITON = find_spec("triton") is not None  # installed with PyTorch for CUDA

Memory = tuple[Tensor, Tensor] | None  # keys and values (b, h, positions, k); None without heads
Mask = Tensor | None  # None: every position is real


class Dropout(nn.Module):
    """Dropout at a rate rounded to 1/256: each value takes one random byte, five times as fast as torch's on CPUs."""

    def __init__(self, rate: float):
        super().__init__()
        self.level = round(rate * 256)

    def forward(self, x: Tensor) -> Tensor:
        """Set each value of x, of any shape, to zero with probability level/256, and scale up the others."""
        if not self.training or not self.level:
            return x
        if x.device.type != "cpu":
            return functional.dropout(x, self.level / 256)
        draws = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device)
        draws.random_(-(2**63), 2**63 - 1)
        keep = (draws.view(torch.uint8)[: x.numel()] >= self.level).view(x.shape)
        return x * keep * (256 / (256 - self.level))


class Attention(nn.Module):
    """Multi-head attention whose width h·k is independent of d; without heads, its output is the bias.

    record: if set, it is called with the attention weights (b, h, queries, keys) of each forward pass and the mask of
    real queries (b, queries) or None; then the weights are computed explicitly.
    """

    def __init__(self, embedding: int, heads: int, head_size: int):
        super().__init__()
        width = heads * head_size
        self.heads, self.head_size = heads, head_size
        self.query = _linear(embedding, width)
        self.key = _linear(embedding, width)
        self.value = _linear(embedding, width)
        self.out = _linear(width, embedding)
        self.record: Recorder | None = None

    def split(self, x: Tensor) -> Tensor:
        """Split the heads: (b, positions, h·k) → (b, h, positions, k)."""
        return x.unflatten(-1, (self.heads, self.head_size)).transpose(1, 2)

    def project_memory(self, memory: Tensor) -> Memory:
        """Project the memory to keys and values (b, h, positions, k); None if no head is left."""
        if not self.heads:
            return None
        return self.split(self.key(memory)), self.split(self.value(memory))

    def attend(
        self, x: Tensor, memory: Memory, mask: Mask, causal: bool = False, queries: Mask = None
    ) -> Tensor:
        """Compute the attention of x (b, queries, d) over keys where mask (b, 1, 1 or queries, keys) is True."""
        if memory is None:
            return self.out.bias.expand_as(x)
        keys, values = memory
        q = self.split(self.query(x))
        # On CPUs, torch's fused attention in bfloat16 takes five times as long as plain products.
        slow = q.dtype == torch.bfloat16 and q.device.type == "cpu"
        if self.record is not None or slow:
            weights = _attention_weights(q, keys, mask, causal)
            if self.record is not None:
                self.record(weights, queries)
            mixed = weights @ values
        else:
            fused = functional.scaled_dot_product_attention
            mixed = fused(q, keys, values, attn_mask=mask, is_causal=causal)
        return self.out(mixed.transpose(1, 2).flatten(2))  # (b, queries, d)

    def forward(self, x: Tensor, mask: Mask, causal: bool = False, queries: Mask = None) -> Tensor:
        """Compute the self-attention of x (b, positions, d)."""
        return self.attend(x, self.project_memory(x), mask, causal, queries)


def _in_16_bits(x: Tensor) -> Tensor:
    """Round each row of x (…, k) to −32767…32767 times 1/32767 of its largest magnitude; gradients pass unchanged."""
    numbers = x.detach().float()
    steps = 32767 / numbers.abs().amax(-1, keepdim=True).clamp(min=1e-30)
    return x + ((numbers * steps).round() / steps - numbers).to(x.dtype)


def _attention_weights(q: Tensor, keys: Tensor, mask: Mask, causal: bool) -> Tensor:
    scores = q @ keys.transpose(-1, -2) * q.shape[-1] ** -0.5  # (b, h, queries, keys)
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1)


class _Recurrence(torch.autograd.Function):
    """Recurrence c_t = f_t ⊙ c_{t−1} + (1 − f_t) ⊙ x_t with c_{−1} = 0; autograd would keep and visit 3·t nodes."""

    @staticmethod
    def forward(ctx, forget: Tensor, x: Tensor) -> Tensor:
        cells = torch.empty_like(x)
        cell = torch.zeros_like(x[0])
        for step in range(x.shape[0]):
            cell = torch.lerp(x[step], cell, forget[step], out=cells[step])
        ctx.save_for_backward(forget, x, cells)
        return cells

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor]:
        forget, x, cells = ctx.saved_tensors
        grad_cells = grad.contiguous().clone()
        for step in range(x.shape[0] - 1, 0, -1):
            grad_cells[step - 1].addcmul_(grad_cells[step], forget[step])
        previous = torch.cat([torch.zeros_like(cells[:1]), cells[:-1]])
        return grad_cells * (previous - x), torch.addcmul(grad_cells, grad_cells, forget, value=-1)


class SSRU(nn.Module):
    """Simpler simple recurrent unit (Kim et al. 2019): h_t = ReLU(c_t), f = σ(W_f x + b_f), x̂ = W x."""

    def __init__(self, embedding: int):
        super().__init__()
        self.candidate = _linear(embedding, embedding, bias=False)
        self.forget = _linear(embedding, embedding)

    def forward(self, x: Tensor) -> Tensor:
        """Compute all positions of x (b, t, d) at once."""
        if x.is_cuda and HAS_TRITON:
            from weebill.kernels.ssru_scan import ssru_scan

            return ssru_scan(self.forget(x), self.candidate(x))
        forget = torch.sigmoid(self.forget(x)).transpose(0, 1).contiguous()
        candidate = self.candidate(x).transpose(0, 1).contiguous().to(forget.dtype)
        return functional.relu(_Recurrence.apply(forget, candidate)).transpose(0, 1)

    def step(self, x: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Compute one position x (rows, d) after the state `cell` (rows, d); return output and new state."""
        cell = torch.lerp(self.candidate(x), cell, torch.sigmoid(self.forget(x)))
        return functional.relu(cell), cell


class FeedForward(nn.Module):
    """Two linear maps with a ReLU between them."""

    def __init__(self, embedding: int, width: int, dropout: float = 0.0):
        super().__init__()
        self.inner = _linear(embedding, width)
        self.outer = _linear(width, embedding)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (…, d) → (…, d)."""
        if not self.inner.out_features:
            return self.outer.bias.expand_as(x)
        return self.outer(self.dropout(functional.relu(self.inner(x))))


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each followed by dropout → add → LayerNorm."""

    def __init__(self, embedding: int, shape: LayerShape, dropout: float = 0.0):
        super().__init__()
        self.self_attention = Attention(embedding, shape.heads, shape.head_size)
        self.attention_norm = nn.LayerNorm(embedding)
        self.feed_forward = FeedForward(embedding, shape.feed_forward, dropout)
        self.feed_forward_norm = nn.LayerNorm(embedding)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, mask: Mask, queries: Mask = None) -> Tensor:
        """Compute x (b, s, d); mask: (b, 1, 1, s), or None if no position is padding."""
        x = self.attention_norm(x + self.dropout(self.self_attention(x, mask, queries=queries)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))

    @property
    def shape(self) -> LayerShape:
        """Present widths of the layer."""
        attention, width = self.self_attention, self.feed_forward.inner.out_features
        return LayerShape(attention.heads, attention.head_size, width)


class DecoderLayer(nn.Module):
    """SSRU or self-attention, cross-attention, feed-forward, each followed by dropout → add → LayerNorm."""

    def __init__(self, embedding: int, shape: LayerShape, kind: str, dropout: float = 0.0):
        super().__init__()
        if kind == "ssru":
            self.recurrence = SSRU(embedding)
        else:
            self.self_attention = Attention(embedding, shape.self_heads, shape.head_size)
        self.kind = kind
        self.self_norm = nn.LayerNorm(embedding)
        self.cross_attention = Attention(embedding, shape.heads, shape.head_size)
        self.cross_norm = nn.LayerNorm(embedding)
        self.feed_forward = FeedForward(embedding, shape.feed_forward, dropout)
        self.feed_forward_norm = nn.LayerNorm(embedding)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, memory: Tensor, mask: Mask) -> Tensor:
        """Compute all target positions x (b, t, d) over the encoder's output memory (b, s, d)."""
        ssru = self.kind == "ssru"
        mixed = self.recurrence(x) if ssru else self.self_attention(x, None, causal=True)
        x = self.self_norm(x + self.dropout(mixed))
        return self._rest(x, self.project_memory(memory), mask)

    def project_memory(self, memory: Tensor) -> Memory:
        """Project the encoder's output as `Attention` does; for int8 layers, round to 16 bits like the runtime."""
        attention = self.cross_attention
        found = attention.project_memory(memory)
        if found is None or getattr(attention.key, "activation_scale", None) is None:
            return found
        return tuple(map(_in_16_bits, found))

    def step(self, x: Tensor, mixed: Tensor, memory, mask: Tensor) -> Tensor:
        """Compute one position x (rows, d), rows = b·beam; mixed: its attention or SSRU; memory is per sentence."""
        x = self.self_norm(x + mixed)
        grouped = x.unflatten(0, (mask.shape[0], -1))  # (b, beam, d)
        return self._rest(grouped, memory, mask).flatten(0, 1)

    def look_back(
        self, x: Tensor, past: tuple | None, ancestors: Tensor, visible: Mask
    ) -> tuple[Tensor, tuple | None]:
        """Compute the self-attention of a position x (rows, d) over a `State`'s past; return it and the new past."""
        attention = self.self_attention
        if not attention.heads:
            return attention.out.bias.expand_as(x), past
        beam, entries = ancestors.shape[1:]
        x = x.unflatten(0, (-1, beam))
        past = appended(past, attention.project_memory(x), entries - beam)
        keys, values = (part[:, :, :entries] for part in past)
        return attention.attend(x, (keys, values), visible).flatten(0, 1), past

    def _rest(self, x: Tensor, memory, mask: Mask) -> Tensor:
        x = self.cross_norm(x + self.dropout(self.cross_attention.attend(x, memory, mask)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))

    @property
    def shape(self) -> LayerShape:
        """Present widths of the layer."""
        cross, width = self.cross_attention, self.feed_forward.inner.out_features
        self_heads = 0 if self.kind == "ssru" else self.self_attention.heads
        return LayerShape(cross.heads, cross.head_size, width, self_heads)


def _linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    """Make a linear map with Glorot-uniform weights and zero bias, Marian's initial values."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Initializing zero-element tensors")  # all heads pruned
        linear = nn.Linear(inputs, outputs, bias=bias)
    if inputs * outputs:
        nn.init.xavier_uniform_(linear.weight)
    if bias:
        nn.init.zeros_(linear.bias)
    for parameter in linear.parameters():
        # An empty parameter never gets a gradient, and DDP would wait for it; an empty layer's bias gets one.
        parameter.requires_grad_(parameter.numel() > 0)
    return linear
