"""Groups of weights: members, norms and gradients, compared with loops."""

import math

import pytest
import torch
from torch import nn

from tests.pruning.owned import of_head, of_neuron
from tests.pruning.toy import small_translator, toy
from weebill.pruning.group_penalty import Groups, group_norms, groups_of
from weebill.pruning.structure import FeedForwardBlock, Projection

MODELS = {"toy": toy, "ssru": lambda: small_translator("ssru")}


def members(block, grouping):
    """Return, for each map and each of its groups, its weights and biases: lists of views."""
    if isinstance(block, FeedForwardBlock):
        neurons = [of_neuron(block, neuron) for neuron in range(block.neurons)]
        inner = [[own["inner.weight"], own["inner.bias"]] for own in neurons]
        return [inner, [[own["outer.weight"]] for own in neurons]]
    maps = []
    for part in ("query", "key", "value", "out"):
        groups = []
        for head in range(block.heads):
            own = of_head(block, head)
            if part == "out":
                connections = [[own["out.weight"][:, i]] for i in range(block.head_size)]
            else:
                both = own[f"{part}.weight"], own[f"{part}.bias"]
                connections = [[values[i] for values in both] for i in range(block.head_size)]
            together = [[values for connection in connections for values in connection]]
            groups += together if grouping == "head" else connections
        maps.append(groups)
    return maps


def flat(group):
    """Return a flat copy of all numbers of a group."""
    return torch.cat([values.detach().reshape(-1) for values in group])


def norm(group):
    return math.sqrt(sum(x**2 for x in flat(group).tolist()))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("grouping", ["rowcol", "head"])
def test_norms_sizes_and_gradients_are_those_of_loops(model, grouping):
    model = MODELS[model]()
    for block in [*model.attention_blocks(), *model.feed_forward_blocks()]:
        expected = members(block, grouping)
        groups = groups_of(block, grouping)
        norms = torch.tensor([[norm(group) for group in groups] for groups in expected])
        torch.testing.assert_close(group_norms(block, grouping), norms)
        for one, of_map in zip(groups, expected, strict=True):
            sizes = {sum(values.numel() for values in group) for group in of_map}
            assert sizes == {one.size}

        sum(one.norms().sum() for one in groups).backward()
        found = [parameter.grad.clone() for parameter in parameters_of(groups)]
        # The gradient of ‖w‖ is w / ‖w‖: write it over w, group by group.
        with torch.no_grad():
            for of_map in expected:
                for group in of_map:
                    length = norm(group)
                    for values in group:
                        values /= length
        for parameter, gradient in zip(parameters_of(groups), found, strict=True):
            torch.testing.assert_close(gradient, parameter.detach())


def parameters_of(groups):
    """Return the weights of the maps, and the biases that belong to groups."""
    for one in groups:
        yield one.projection.module.weight
        if one.side == "outputs":
            yield one.projection.module.bias


@pytest.mark.parametrize("grouping", ["rowcol", "head"])
def test_groups_of_zeros_have_no_gradient(grouping):
    (block, *_) = toy().attention_blocks()
    with torch.no_grad():
        for values in of_head(block, 1).values():
            values.zero_()
    sum(one.norms().sum() for one in groups_of(block, grouping)).backward()
    for projection in (block.query, block.key, block.value):
        gradients = projection.module.weight.grad, projection.module.bias.grad
        assert all(torch.isfinite(gradient).all() for gradient in gradients)
        assert not any(gradient[3:6].any() for gradient in gradients)
        assert all(gradient[:3].all() for gradient in gradients)
    assert not block.out.module.weight.grad[:, 3:6].any()


def test_a_part_of_a_fused_map_is_grouped_alone():
    """GPT-2 has fused maps: (inputs, 3 · outputs) weights."""
    fused = nn.Module()
    fused.weight = nn.Parameter(torch.randn(5, 12))
    fused.bias = nn.Parameter(torch.randn(12))
    weight, bias = fused.weight.detach().clone(), fused.bias.detach().clone()
    groups = Groups(Projection(fused, part=1, parts=3, output_axis=1), "outputs", 2)
    norms = groups.norms().detach()
    for number, columns in enumerate([slice(4, 6), slice(6, 8)]):
        expected = (weight[:, columns].square().sum() + bias[columns].square().sum()).sqrt()
        torch.testing.assert_close(norms[number], expected)


@pytest.mark.parametrize("grouping", ["rowcol", "head"])
def test_a_block_without_heads_has_no_groups(grouping):
    (block, *_) = toy().attention_blocks()
    block.keep([])
    assert group_norms(block, grouping).shape == (4, 0)
