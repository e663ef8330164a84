"""Gates against masks written into every weight and bias, their gradients included."""

import pytest
import torch
from torch import nn
from torch.func import functional_call
from transformers.pytorch_utils import Conv1D

from tests.pruning.toy import HEAD_SIZE, HEADS, NEURONS, toy, toy_batch
from weebill.pruning.gates import gated, silent, write_gates
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, Projection

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

    Rows of weights and biases are multiplied; of the last part only the weight, by columns.
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

    # Σ gradient ⊙ weight over the columns behind a gate, for the effective weight
    [(name, acting)] = changed.items()
    [gradient] = torch.autograd.grad(loss(model, {name: acting}), [acting])
    weight = dict(model.named_parameters())[name]
    products = (gradient * weight).sum(0).unflatten(0, (len(mask), -1)).sum(1)
    torch.testing.assert_close(found[0], products)


@pytest.mark.parametrize("kind", PARTS)
def test_behind_a_closed_gate_the_gate_alone_has_a_gradient(kind):
    """With masks on all parts at once, no gradient would remain, and no gate could open again."""
    model, mask = toy().double(), mask_of(kind, [1])
    [everywhere] = torch.autograd.grad(
        loss(model, written_out(model, kind, mask, PARTS[kind])), [mask]
    )
    with gated(block_of(model, kind), lambda: mask):
        loss(model).backward()
    assert everywhere[1] == 0 != mask.grad[1]
    block = block_of(model, kind)
    behind = block.head(1) if kind == "heads" else block.neuron(1)
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
        block.head(2)["out.weight"].data[:, 1] = 0.0  # other columns still act
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
