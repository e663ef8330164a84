"""A cut model computes the same as the masked one, for every removal, and has the papers' size."""

from itertools import product

import pytest
import torch

from tests.pruning.toy import HEADS, LAYERS, NEURONS, small_translator, toy, toy_batch
from weebill.configuration.zoo_file import load_zoo
from weebill.experiment.shapes import Architecture
from weebill.pruning.cut import cut, masked
from weebill.translation.model.network import Translator


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
    with pytest.raises(ValueError, match=message), masked(model, heads, neurons):
        pass


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
