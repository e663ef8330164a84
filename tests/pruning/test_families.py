"""The core on families that others will build on: XLM-R, BART and GPT-2, tiny and randomly initialised."""

import pytest
import torch
from torch import nn
from transformers import (
    BartConfig,
    BartModel,
    GPT2Config,
    GPT2Model,
    XLMRobertaConfig,
    XLMRobertaModel,
)

from goldcrest.pruning.cut import cut, masked
from goldcrest.pruning.structure import AttentionBlock, FeedForwardBlock, Projection

WIDTH, HEADS, HEAD_SIZE, NEURONS = 24, 4, 6, 20


class Nothing(nn.Module):
    """Stands for an attention without heads: nothing comes out, and the output map adds its bias."""

    def forward(self, hidden_states, *_, **__):
        return hidden_states[..., :0], None


class XLMR:
    """How XLM-R lists its blocks."""

    def __init__(self):
        sizes = {"hidden_size": WIDTH, "num_attention_heads": HEADS, "intermediate_size": NEURONS}
        config = XLMRobertaConfig(vocab_size=40, num_hidden_layers=2, **sizes)
        self.network = XLMRobertaModel(config).eval()
        self.layers = self.network.encoder.layer

    def attention_blocks(self):
        for i, layer in enumerate(self.layers):
            part = layer.attention.self
            if isinstance(part, Nothing):
                continue

            def set_shape(heads, layer=layer, part=part):
                part.num_attention_heads, part.all_head_size = heads, heads * HEAD_SIZE
                if not heads:
                    layer.attention.self = Nothing()

            projections = part.query, part.key, part.value, layer.attention.output.dense
            yield AttentionBlock(f"layer.{i}", *projections, HEADS, HEAD_SIZE, set_shape)

    def feed_forward_blocks(self):
        for i, layer in enumerate(self.layers):
            yield FeedForwardBlock(f"layer.{i}", layer.intermediate.dense, layer.output.dense)

    def __call__(self, tokens):
        return self.network(tokens).last_hidden_state


class BART:
    """How BART lists its blocks, those of the decoder included."""

    def __init__(self):
        sizes = {
            f"{side}_{key}": value
            for side in ("encoder", "decoder")
            for key, value in {"layers": 2, "attention_heads": HEADS, "ffn_dim": NEURONS}.items()
        }
        self.network = BartModel(BartConfig(vocab_size=40, d_model=WIDTH, **sizes)).eval()

    def attention_blocks(self):
        for name, part in self.network.named_modules():
            if name.endswith("attn"):
                projections = part.q_proj, part.k_proj, part.v_proj, part.out_proj
                yield AttentionBlock(
                    name,
                    *projections,
                    part.num_heads,
                    HEAD_SIZE,
                    set_shape=lambda heads, part=part: setattr(part, "num_heads", heads),
                )

    def feed_forward_blocks(self):
        for name, layer in self.network.named_modules():
            if hasattr(layer, "fc1"):
                yield FeedForwardBlock(name, layer.fc1, layer.fc2)

    def __call__(self, tokens):
        return self.network(tokens).last_hidden_state


class GPT2:
    """How GPT-2 lists its blocks: one Conv1D holds query, key and value."""

    def __init__(self):
        sizes = {"n_embd": WIDTH, "n_head": HEADS, "n_inner": NEURONS, "n_layer": 2}
        self.network = GPT2Model(GPT2Config(vocab_size=40, **sizes)).eval()

    def attention_blocks(self):
        for i, layer in enumerate(self.network.h):

            def set_shape(heads, part=layer.attn):
                part.num_heads, part.split_size = heads, heads * HEAD_SIZE

            fused = [Projection(layer.attn.c_attn, part, 3, output_axis=1) for part in range(3)]
            out = Projection(layer.attn.c_proj, output_axis=1)
            yield AttentionBlock(f"h.{i}", *fused, out, layer.attn.num_heads, HEAD_SIZE, set_shape)

    def feed_forward_blocks(self):
        for i, layer in enumerate(self.network.h):
            inner, outer = (
                Projection(m, output_axis=1) for m in (layer.mlp.c_fc, layer.mlp.c_proj)
            )
            yield FeedForwardBlock(f"h.{i}", inner, outer)

    def __call__(self, tokens):
        return self.network(tokens).last_hidden_state


@pytest.fixture(params=[XLMR, BART, GPT2])
def family(request):
    torch.manual_seed(3)
    model = request.param()
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model


def test_cut_equals_masked(family):
    tokens = torch.randint(3, 40, (2, 9))
    blocks = [block.name for block in family.attention_blocks()]
    heads = {name: [0, 1, 2][: 1 + i % 3] for i, name in enumerate(blocks)}
    neurons = {block.name: [1, 4, 19] for block in family.feed_forward_blocks()}
    with torch.no_grad():
        whole = family(tokens)
        with masked(family, heads, neurons):
            expected = family(tokens)
        assert not torch.allclose(whole, expected, atol=1e-2)
        before = sum(parameter.numel() for parameter in family.network.parameters())
        cut(family, heads, neurons)
        torch.testing.assert_close(family(tokens), expected, rtol=0, atol=1e-5)
    removed = sum(map(len, heads.values())) * (4 * WIDTH * HEAD_SIZE + 3 * HEAD_SIZE)
    removed += 3 * len(neurons) * (2 * WIDTH + 1)
    assert sum(parameter.numel() for parameter in family.network.parameters()) == before - removed


def test_views_of_heads_and_neurons_hold_exactly_what_a_cut_removes(family):
    tokens = torch.randint(3, 40, (2, 9))
    block, feed_forward = (
        next(iter(family.attention_blocks())),
        next(iter(family.feed_forward_blocks())),
    )
    assert block.head(1)["query.weight"].shape == (HEAD_SIZE, WIDTH)
    assert block.head(1)["out.weight"].shape == (WIDTH, HEAD_SIZE)
    assert feed_forward.neuron(2)["outer.weight"].shape == (WIDTH,)
    with torch.no_grad():
        with masked(family, {block.name: [1]}, {feed_forward.name: [2]}):
            expected = family(tokens)
        block.head(1)["out.weight"].zero_()
        feed_forward.neuron(2)["outer.weight"].zero_()
        torch.testing.assert_close(family(tokens), expected, rtol=0, atol=1e-5)
    family(tokens).sum().backward()
    gradient = block.query.module.weight.grad
    assert gradient is not None and gradient.shape == block.query.module.weight.shape
    with pytest.raises(IndexError, match="no head 4 among 4"):
        block.head(4)
    with pytest.raises(IndexError, match="no neuron 20 among 20"):
        feed_forward.neuron(20)


def test_a_family_whose_attention_needs_a_head_takes_it_out_at_zero():
    torch.manual_seed(3)
    family, tokens = XLMR(), torch.randint(3, 40, (2, 9))
    heads = {"layer.0": range(HEADS)}
    with torch.no_grad():
        with masked(family, heads):
            expected = family(tokens)
        cut(family, heads)
        torch.testing.assert_close(family(tokens), expected, rtol=0, atol=1e-5)


def test_projections_that_do_not_fit_are_refused():
    linear = [nn.Linear(8, 12) for _ in range(3)]
    with pytest.raises(ValueError, match="do not hold 4 heads of size 2"):
        AttentionBlock("block", *linear, nn.Linear(12, 8), heads=4, head_size=2)
    fused = nn.Linear(8, 36)
    block = AttentionBlock(
        "block", Projection(fused, 0, 3), Projection(fused, 1, 3), linear[2], nn.Linear(12, 8), 4, 3
    )
    with pytest.raises(ValueError, match="all 3 parts of a fused module"):
        block.keep([0])
