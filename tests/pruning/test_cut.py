"""Cut models compute the same as masked ones for every removal; gates equal masks of all weights and biases."""

from itertools import product

import pytest
import torch
from torch import nn
from torch.func import functional_call
from transformers.pytorch_utils import Conv1D

from tests.pruning.masking import masked
from tests.pruning.owned import of_head, of_neuron
from tests.pruning.toy import HEAD_SIZE, HEADS, LAYERS, NEURONS, small_translator, toy, toy_batch
from weebill.configuration.zoo_file import load_zoo
from weebill.pruning.cut import cut, gated, silent, write_gates
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, Projection
from weebill.translation.model.network import Translator
from weebill_runtime.architecture import Architecture


def subsets(size):
    """Return all subsets of range(size)."""
    return [
        [i for i, chosen in enumerate(pattern) if chosen]
        for pattern in product((0, 1), repeat=size)
    ]


@pytest.mark.parametrize("removed", subsets(HEADS), ids=str)
def test_cut_equals_masked_for_every_combination_of_heads(removed):
    x, mask = toy_batch(3)
    for layer in range(LAYERS):
        model = toy()
        heads = {f"encoder.{layer}.attention": removed}
        with torch.no_grad():
            whole = model(x, mask)
            with masked(model, heads):
                expected = model(x, mask)
            assert torch.equal(model(x, mask), whole), "the mask outlived its block"
            assert removed == [] or not torch.allclose(expected, whole, atol=1e-3)
            cut(model, heads)
            torch.testing.assert_close(model(x, mask), expected, rtol=0, atol=1e-5)


def test_heads_and_neurons_of_all_layers_together():
    x, mask = toy_batch(4)
    model = toy()
    heads = {"encoder.0.attention": [0, 1, 2, 3], "encoder.2.attention": [1]}
    neurons = {"encoder.0.neurons": [0, 3, 9], "encoder.1.neurons": range(NEURONS)}
    with torch.no_grad():
        with masked(model, heads, neurons):
            expected = model(x, mask)
        before = sum(parameter.numel() for parameter in model.parameters())
        cut(model, heads, neurons)
        torch.testing.assert_close(model(x, mask), expected, rtol=0, atol=1e-5)
    assert [block.heads for block in model.attention_blocks()] == [0, 4, 3]
    assert [block.neurons for block in model.feed_forward_blocks()] == [7, 0, 10]
    gone = 5 * (4 * 8 * 3 + 3 * 3) + 13 * (2 * 8 + 1)
    assert sum(parameter.numel() for parameter in model.parameters()) == before - gone


def test_a_cut_model_still_learns():
    x, mask = toy_batch(5)
    model = toy()
    cut(model, {"encoder.0.attention": range(HEADS), "encoder.1.attention": [0, 2]})
    cut(model, neurons={"encoder.1.neurons": [5]})
    model(x, mask).sum().backward()
    parameters = list(model.parameters())
    assert all((p.grad is not None) == p.requires_grad == (p.numel() > 0) for p in parameters)


@pytest.mark.parametrize(
    ("heads", "neurons", "message"),
    [
        ({"encoder.0.atention": [0]}, {}, "did you mean 'encoder.0.attention'"),
        ({"encoder.0.attention": [4]}, {}, r"encoder.0.attention: nothing numbered \[4\] among 4"),
        ({"encoder.0.attention": [1]}, {"encoder.1.neurons": [-1]}, r"nothing numbered \[-1\]"),
    ],
)
def test_what_does_not_exist_is_refused_and_nothing_changes(heads, neurons, message):
    model = toy()
    with pytest.raises(ValueError, match=message):
        cut(model, heads, neurons)
    assert [block.heads for block in model.attention_blocks()] == [HEADS] * LAYERS


@pytest.mark.parametrize("decoder", ["ssru", "attention"])
def test_translation_network_with_every_kind_of_block_cut(decoder):
    source = torch.randint(2, 50, (3, 6))
    mask = torch.arange(6)[None, :] < torch.tensor([6, 4, 2])[:, None]
    target = torch.randint(2, 50, (3, 5))
    for removed in ([0], [1, 3], [0, 1, 2], [0, 1, 2, 3]):
        network = small_translator(decoder)
        heads = {block.name: removed for block in network.attention_blocks()}
        neurons = {block.name: range(5, 20) for block in network.feed_forward_blocks()}
        with torch.no_grad():
            with masked(network, heads, neurons):
                expected = network.decode(target, network.encode(source, mask), mask)
            cut(network, heads, neurons)
            hidden = network.decode(target, network.encode(source, mask), mask)
            again = Translator(network.architecture)
            again.load_state_dict(network.state_dict())
            reloaded = again.eval().decode(target, again.encode(source, mask), mask)
        torch.testing.assert_close(hidden, expected, rtol=0, atol=1e-5)
        assert torch.equal(reloaded, hidden)
        assert {layer.heads for layer in network.architecture.encoder} == {4 - len(removed)}


@pytest.mark.parametrize(("removed", "printed"), [(0, 15.7), (36, 14.5), (42, 14.3)])
def test_tiny_without_heads_has_the_printed_number_of_parameters(removed, printed):
    """WNGT20 table 2 prints Tiny, Steady.i12 and Pushy.i6, Steady.i14 and Pushy.i7."""
    with torch.device("meta"):
        network = Translator(Architecture.from_zoo(load_zoo()["tiny"]))
    encoder = [b for b in network.attention_blocks() if b.name.startswith("encoder.")]
    assert sum(block.heads for block in encoder) == 48
    whole = sum(parameter.numel() for parameter in network.parameters())
    spread = [(block.name, head) for head in range(8) for block in encoder][:removed]
    heads = {}
    for name, head in spread:
        heads.setdefault(name, []).append(head)
    cut(network, heads)
    left = sum(parameter.numel() for parameter in network.parameters())
    assert whole - left == removed * (4 * 256 * 32 + 3 * 32)
    assert round(left / 1e6, 1) == printed


LAYER = 1
PARTS = {"heads": ("q", "k", "v", "o"), "neurons": ("up", "down")}
CASES = [(kind, closed) for kind in PARTS for closed in ([], [1], [0, 3], range(4))]


def block_of(model, kind):
    blocks = model.attention_blocks() if kind == "heads" else model.feed_forward_blocks()
    return blocks[LAYER]


def mask_of(kind, closed):
    """Return ones (h,) or (f,), with zeros at closed gates."""
    mask = torch.ones(HEADS if kind == "heads" else NEURONS, dtype=torch.float64)
    mask[list(closed)] = 0.0
    return mask.requires_grad_()


def loss(model, changed=()):
    x, real = toy_batch(3)
    return functional_call(model, dict(changed), (x.double(), real))[real].sin().sum()


def written_out(model, kind, mask, parts):
    """Return the parameters of a layer's parts times the mask.

    The mask multiplies rows of weights and biases, and columns of the last part's weight.
    """
    factors = mask.repeat_interleave(HEAD_SIZE if kind == "heads" else 1)
    changed = {}
    for part in parts:
        name, module = f"layers.{LAYER}.{part}", getattr(model.layers[LAYER], part)
        if part == PARTS[kind][-1]:
            changed[f"{name}.weight"] = module.weight * factors
        else:
            changed[f"{name}.weight"] = module.weight * factors[:, None]
            changed[f"{name}.bias"] = module.bias * factors
    return changed


@pytest.mark.parametrize(("kind", "closed"), CASES, ids=str)
def test_a_gate_of_0_masks_all_weights_and_biases(kind, closed):
    model, mask = toy().double(), mask_of(kind, closed)
    expected = loss(model, written_out(model, kind, mask, PARTS[kind]))
    with gated(block_of(model, kind), lambda: mask):
        torch.testing.assert_close(loss(model), expected)
    assert torch.equal(loss(model), loss(model, {})), "the gates outlived their block"


def test_masks_of_weights_alone_would_let_the_biases_of_values_through():
    model, mask = toy().double(), mask_of("heads", [1])
    weights = {
        name: value
        for name, value in written_out(model, "heads", mask, ("q", "k", "v")).items()
        if name.endswith("weight")
    }
    with gated(block_of(model, "heads"), lambda: mask):
        expected = loss(model)
    assert abs(loss(model, weights) - expected) > 1e-3


@pytest.mark.parametrize(("kind", "closed"), CASES, ids=str)
def test_a_gates_gradient_is_that_of_a_mask_of_the_last_weights(kind, closed):
    model, mask = toy().double(), mask_of(kind, closed)
    with gated(block_of(model, kind), lambda: mask):
        value = loss(model)
    parameters = [mask, *model.parameters()]
    found = torch.autograd.grad(value, parameters)
    changed = written_out(model, kind, mask, PARTS[kind][-1:])
    expected = torch.autograd.grad(loss(model, changed), parameters)
    torch.testing.assert_close(found, expected)

    # Σ gradient ⊙ weight over the columns behind a gate, with the effective weight.
    [(name, acting)] = changed.items()
    [gradient] = torch.autograd.grad(loss(model, {name: acting}), [acting])
    weight = dict(model.named_parameters())[name]
    products = (gradient * weight).sum(0).unflatten(0, (len(mask), -1)).sum(1)
    torch.testing.assert_close(found[0], products)


@pytest.mark.parametrize("kind", PARTS)
def test_behind_a_closed_gate_the_gate_alone_has_a_gradient(kind):
    """If masks acted on all parts, no gradient would remain, and no gate could open again."""
    model, mask = toy().double(), mask_of(kind, [1])
    [everywhere] = torch.autograd.grad(
        loss(model, written_out(model, kind, mask, PARTS[kind])), [mask]
    )
    with gated(block_of(model, kind), lambda: mask):
        loss(model).backward()
    assert everywhere[1] == 0 != mask.grad[1]
    block = block_of(model, kind)
    behind = of_head(block, 1) if kind == "heads" else of_neuron(block, 1)
    for name in behind:
        part, parameter = name.split(".")
        whole = getattr(block, part).module.get_parameter(parameter)
        width = HEAD_SIZE if kind == "heads" else 1
        rows = whole.grad.T if name in ("out.weight", "outer.weight") else whole.grad
        assert not rows[width : 2 * width].any() and rows[:width].any()


@pytest.mark.parametrize("kind", PARTS)
def test_written_gates_stay_and_the_closed_ones_are_found(kind):
    model = toy().double()
    block, gates = block_of(model, kind), mask_of(kind, [0, 3]).detach()
    gates[1] = 0.5
    with gated(block, lambda: gates):
        expected = loss(model)
    assert silent(block) == []
    write_gates(block, gates)
    torch.testing.assert_close(loss(model), expected)
    if kind == "heads":
        of_head(block, 2)["out.weight"].data[:, 1] = 0.0  # other columns still act
    assert silent(block) == [0, 3]


def test_fused_and_transposed_projections():
    fused, out, inner, outer = Conv1D(36, 8), Conv1D(8, 12), Conv1D(10, 8), Conv1D(8, 10)
    parts = [Projection(fused, part, 3, output_axis=1) for part in range(3)]
    attention = AttentionBlock("attention", *parts, Projection(out, output_axis=1), 4, 3)
    neurons = FeedForwardBlock(
        "neurons", Projection(inner, output_axis=1), Projection(outer, output_axis=1)
    )
    for block, module, gates, rows in [
        (attention, out, torch.tensor([1.0, 0.0, 1.0, 1.0]), range(3, 6)),
        (neurons, outer, torch.ones(10).index_fill(0, torch.tensor([7]), 0.0), [7]),
    ]:
        x = torch.randn(2, 5, module.nx)
        with gated(block, lambda gates=gates: gates):
            found = module(x)
        torch.testing.assert_close(found, module(x.index_fill(-1, torch.tensor(rows), 0.0)))
        write_gates(block, gates)
        torch.testing.assert_close(module(x), found)
        assert silent(block) == [block.heads - 3] if block is attention else [7]


@pytest.mark.parametrize("model_type", [torch.bfloat16, torch.float32], ids=["weights", "autocast"])
def test_bfloat16_reaches_neither_gates_nor_their_gradients(model_type):
    """1,001 positions have a gradient of 1 each; bfloat16 cannot represent their sum."""
    inner, outer = nn.Linear(1, 2), nn.Linear(2, 1, bias=False)
    for parameter in (*inner.parameters(), *outer.parameters()):
        nn.init.ones_(parameter)
    gates = torch.ones(2).requires_grad_()
    x = torch.zeros(1001, 1, dtype=model_type)
    autocast = torch.autocast("cpu", torch.bfloat16, enabled=model_type == torch.float32)
    block = FeedForwardBlock("neurons", inner.to(model_type), outer.to(model_type))
    with gated(block, lambda: gates), autocast:
        y = outer(inner(x))
    assert y.dtype == torch.bfloat16
    y.float().sum().backward()
    assert gates.grad.tolist() == [1001.0, 1001.0]
