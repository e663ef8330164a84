"""Compiled decoders of any description, compared with loops in float64."""

import itertools

import pytest
import torch
from torch import nn

from tests.runtime.conftest import ISAS
from weebill.kernels.decoder import Attention, CompiledDecoder, Decoder, Layer
from weebill.kernels.int8_layers import ACTIVATIONS, Int8Embedding, Int8Linear, Int8Weight

WIDTH, HEADS, SIZE, NEURONS, PIECES = 20, 3, 10, 37, 50
FLAGS = [dict(zip(("norm_first", "centred", "gated", "pairs", "distances"), bits, strict=True))
         for bits in itertools.product([False, True], repeat=5) if sum(bits) in (0, 2, 4, 5)]  # fmt: skip


class Maps:
    """Maker of int8 layers that remembers their weights in float64."""

    def __init__(self, isa):
        self.isa, self.weights = isa, {}

    def linear(self, outputs, inputs, activation="none"):
        codes = torch.randint(-127, 128, (outputs, inputs), dtype=torch.int8)
        scale = (torch.rand(outputs) + 1) * 100 * inputs**0.5
        bias = nn.Parameter(torch.randn(outputs))
        made = Int8Linear(Int8Weight(codes, scale, self.isa), bias, None, activation)
        self.weights[made] = codes.double() / scale.double()[:, None]
        return made

    def attention(self, norm, fused=False, distances=None):
        inner = HEADS * SIZE
        maps = (
            [self.linear(3 * inner, WIDTH)]
            if fused
            else [self.linear(inner, WIDTH) for _ in range(3)]
        )
        return Attention(norm(), maps, self.linear(WIDTH, inner), HEADS, SIZE, 0.3, distances)


def make(isa, norm_first, centred, gated, pairs, distances):
    torch.manual_seed(4)
    maps = Maps(isa)

    def norm():
        made = nn.LayerNorm(WIDTH, bias=centred)
        return (
            made.requires_grad_(False)
            if nn.init.uniform_(made.weight, 0.5, 2) is not None
            else None
        )

    table = torch.randn(HEADS, 4) if distances else None
    layers = [
        Layer(
            maps.attention(norm, fused=gated, distances=table),
            norm(),
            maps.linear(NEURONS, WIDTH, "gelu_tanh"),
            maps.linear(WIDTH, NEURONS),
            maps.linear(NEURONS, WIDTH) if gated else None,
            maps.attention(norm) if pairs else None,
        )
        for _ in range(2)
    ]
    output = maps.linear(PIECES, WIDTH)
    parts = Decoder(
        Int8Embedding(output.coded, 1.5), layers, output, norm_first, centred, 1e-5,
        None if distances else torch.randn(30, WIDTH), norm(), norm() if norm_first else None, 0.7,
        torch.randn(PIECES), 2.0,
    )  # fmt: skip
    return maps, parts


def rounded(x):
    return (x * 127 / x.abs().amax()).round() * x.abs().amax() / 127


def reference(maps, parts, tokens, states):
    """Return the logits after the last token of a text."""

    def mapped(module, x, bias=True):
        y = maps.weights[module] @ rounded(x)
        return ACTIVATIONS[module.activation](y + module.bias.double() if bias else y)

    def normalised(norm, x):
        if norm is None:
            return x
        x = x - x.mean() if parts.centred else x
        y = x / (x.square().mean() + parts.epsilon).sqrt() * norm.weight.double()
        return y if norm.bias is None else y + norm.bias.double()

    def attended(block, queries, memory, causal):
        inputs = [queries, memory, memory]
        if len(block.maps) == 1:
            all_of = [mapped(block.maps[0], x).view(3, HEADS, SIZE) for x in queries]
            q, k, v = (torch.stack([one[p] for one in all_of]) for p in range(3))
        else:
            q, k, v = (torch.stack([mapped(one, x).view(HEADS, SIZE) for x in each])
                       for one, each in zip(block.maps, inputs, strict=True))  # fmt: skip
        out = []
        for i in range(len(queries)):
            seen = i + 1 if causal else len(memory)
            heads = []
            for h in range(HEADS):
                scores = torch.stack([q[i, h] @ k[j, h] for j in range(seen)]) * block.scale
                if block.distances is not None:
                    near = [block.distances[h, max(3 - (i - j), 0)] for j in range(seen)]
                    scores = scores + torch.stack(near).double()
                heads.append(scores.softmax(0) @ v[:seen, h])
            out.append(mapped(block.out, torch.cat(heads)))
        return out

    def block(norm, x, f):
        added = f([normalised(norm, one) for one in x] if parts.norm_first else x)
        x = [one + more for one, more in zip(x, added, strict=True)]
        return x if parts.norm_first else [normalised(norm, one) for one in x]

    def feed_forward(layer, x):
        inner = mapped(layer.inner, x)
        return mapped(layer.outer, inner * mapped(layer.gate, x) if layer.gate else inner)

    x = [
        maps.weights[parts.output][token] * parts.embedding.factor * parts.embedding_factor
        for token in tokens
    ]
    if parts.positions is not None:
        x = [one + parts.positions[i].double() for i, one in enumerate(x)]
    x = [normalised(parts.embedding_norm, one) for one in x]
    for layer in parts.layers:
        x = block(layer.attention.norm, x, lambda y, of=layer.attention: attended(of, y, y, True))
        if (cross := layer.cross_attention) is not None:
            x = block(cross.norm, x, lambda y, of=cross: attended(of, y, states, False))
        x = block(layer.norm, x, lambda y, of=layer: [feed_forward(of, one) for one in y])
    last = normalised(parts.last_norm, x[-1]) * parts.output_factor
    return mapped(parts.output, last, bias=False) + parts.output_bias.double()


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("flags", FLAGS, ids=str)
@torch.inference_mode()
def test_logits_are_those_of_loops(isa, flags):
    maps, parts = make(isa, **flags)
    texts = [torch.randint(PIECES, (n,)) for n in (3, 9)]
    states = [torch.randn(n, WIDTH) for n in (6, 19)]
    writing = CompiledDecoder(parts).write(2, 0)
    if flags["pairs"]:
        writing.read(torch.cat(states), [6, 19])
    writing.add(torch.cat([texts[0][:2], texts[1][:4]]), [2, 4])
    found = writing.add(torch.cat([texts[0][2:], texts[1][4:]]), [1, 5])
    for row in range(2):
        expected = reference(maps, parts, texts[row], states[row].double())
        torch.testing.assert_close(found[row].double(), expected, rtol=1e-3, atol=1e-3)


@torch.inference_mode()
def test_tokens_beyond_a_group_and_rows_that_share_them():
    """A prompt of more than 256 tokens is computed in parts; then rows continue it with different tokens."""
    _, parts = make(ISAS[0], True, False, False, False, True)
    prompt, ends = torch.randint(PIECES, (300,)), torch.randint(PIECES, (3,))
    writing = CompiledDecoder(parts).write(1, 0)
    writing.add(prompt, [300])
    writing.select(torch.tensor([0, 0, 0]))
    found = writing.add(ends, [1, 1, 1])
    for row in range(3):
        alone = CompiledDecoder(parts).write(1, 0)
        for token in prompt:
            alone.add(token[None], [1])
        torch.testing.assert_close(alone.add(ends[row, None], [1])[0], found[row])
