"""A cut model of each family computes the same as the masked model, and loses exactly the expected parameters."""

from contextlib import ExitStack

import pytest
import torch
from torch import Tensor, nn
from transformers import BartForCausalLM

from tests.hugging_face.small import (
    DEPTHS,
    HEAD_SIZE,
    HEADS,
    MAKERS,
    NEURONS,
    WIDTH,
    foreign,
    logits,
    small_batch,
    small_model,
)
from tests.pruning.masking import masked
from tests.pruning.owned import of_head, of_neuron
from weebill.errors import InputError
from weebill.hugging_face.families import prunable
from weebill.pruning.cut import cut
from weebill.pruning.depth import cut_layers

TOLERANCE = 3e-5
ATTENTIONS = {"encoder": ["self_attention"], "decoder": ["self_attention", "cross_attention"]}


def removals():
    """Return removals by name: lists of heads and of neurons that successive blocks lose."""
    return {
        "one": ([[2]], [[7]]),
        "several": ([[0], [1, 3], [0, 1, 2]], [[1, 4, 19], [], range(10)]),
        "whole blocks": ([range(HEADS), [1]], [[0], range(NEURONS)]),
        "everything": ([range(HEADS)], [range(NEURONS)]),
    }


def hand_on(_, given, output):
    """Return a layer's input unchanged, in the form of its output."""
    return given[0] if isinstance(output, Tensor) else (given[0], *output[1:])


def in_turn(blocks, choices):
    return {block.name: list(choices[i % len(choices)]) for i, block in enumerate(blocks)}


def parameters(model):
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("kind", removals())
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("family", MAKERS)
def test_heads_and_neurons(family, attention, kind):
    model, batch = small_model(family), small_batch(family)
    model.set_attn_implementation(attention)
    view = prunable(model)
    heads, neurons = (
        in_turn(blocks, choices)
        for blocks, choices in zip(
            (view.attention_blocks(), view.feed_forward_blocks()), removals()[kind], strict=True
        )
    )
    whole, before = logits(model, batch), parameters(model)
    with masked(view, heads, neurons):
        expected = logits(model, batch)
    assert not torch.allclose(whole, expected, atol=1e-3)
    cut(view, heads, neurons)
    torch.testing.assert_close(logits(model, batch), expected, rtol=0, atol=TOLERANCE)
    gone_heads, gone_neurons = (sum(map(len, gone.values())) for gone in (heads, neurons))
    biases = "t5" not in family
    arithmetic = gone_heads * (4 * WIDTH * HEAD_SIZE + 3 * HEAD_SIZE * biases)
    arithmetic += gone_neurons * ((3 if family == "gated-t5" else 2) * WIDTH + biases)
    assert before - parameters(model) == arithmetic
    again = prunable(model)
    assert [b.heads for b in again.attention_blocks()] == [HEADS - len(h) for h in heads.values()]
    assert [b.neurons for b in again.feed_forward_blocks()] == [
        NEURONS - len(n) for n in neurons.values()
    ]


@pytest.mark.parametrize("family", MAKERS)
def test_heads_neurons_and_layers(family):
    """A removed layer acts as the identity."""
    model, batch = small_model(family), small_batch(family)
    view = prunable(model)
    heads = in_turn(view.attention_blocks(), [[0], [1, 3], []])
    neurons = in_turn(view.feed_forward_blocks(), [[1, 4, 19], [0]])
    with ExitStack() as stack:
        stack.enter_context(masked(view, heads, neurons))
        for layers in view.layer_stacks():
            hook = layers.layers[-1].register_forward_hook(hand_on)
            stack.callback(hook.remove)
        expected = logits(model, batch)
    cut(view, heads, neurons)
    before = parameters(model)
    tops = [layers.layers[-1] for layers in view.layer_stacks()]
    for layers in view.layer_stacks():
        cut_layers(view, layers.name, 1)
    torch.testing.assert_close(logits(model, batch), expected, rtol=0, atol=TOLERANCE)
    assert before - parameters(model) == sum(map(parameters, tops))
    counts = {
        "xlm-roberta": {"num_hidden_layers": 2},
        "bart": {"encoder_layers": 1, "decoder_layers": 2},
        "gpt2": {"n_layer": 2},
    }.get(family, {"num_layers": 2, "num_decoder_layers": 1})
    assert {name: getattr(model.config, name) for name in counts} == counts
    with torch.inference_mode():
        states = model(**batch, output_hidden_states=True)
    hidden = states.get("decoder_hidden_states") or states["hidden_states"]
    assert len(hidden) == list(DEPTHS[family].values())[-1]


@pytest.mark.parametrize("family", MAKERS)
def test_blocks_are_named_like_those_of_students(family):
    view = prunable(small_model(family))
    names = [block.name for block in view.attention_blocks()]
    assert names == [
        f"{stack}.{layer}.{attention}"
        for stack, depth in DEPTHS[family].items()
        for layer in range(depth)
        for attention in ATTENTIONS[stack][: len(DEPTHS[family]) if stack == "decoder" else 1]
    ]
    layers = list(dict.fromkeys(name.rsplit(".", 1)[0] for name in names))
    assert [b.name for b in view.feed_forward_blocks()] == [f"{n}.feed_forward" for n in layers]
    assert {s.name: s.depth for s in view.layer_stacks()} == DEPTHS[family]


@pytest.mark.parametrize("family", MAKERS)
def test_views_of_heads_and_neurons_hold_what_a_mask_takes_away(family):
    model, batch = small_model(family), small_batch(family)
    view = prunable(model)
    block, feed_forward = view.attention_blocks()[-1], view.feed_forward_blocks()[0]
    assert of_head(block, 1)["query.weight"].shape == (HEAD_SIZE, WIDTH)
    assert of_head(block, 1)["out.weight"].shape == (WIDTH, HEAD_SIZE)
    assert of_neuron(feed_forward, 2)["inner.weight"].shape == (WIDTH,)
    with masked(view, {block.name: [1]}, {feed_forward.name: [2]}):
        expected = logits(model, batch)
    with torch.no_grad():
        of_head(block, 1)["out.weight"].zero_()
        of_neuron(feed_forward, 2)["outer.weight"].zero_()
    torch.testing.assert_close(logits(model, batch), expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("family", MAKERS)
def test_a_cut_model_still_learns(family):
    model, batch = small_model(family), small_batch(family)
    view = prunable(model)
    heads = in_turn(view.attention_blocks(), [range(HEADS), [0, 2], [1]])
    neurons = in_turn(view.feed_forward_blocks(), [[5], range(NEURONS)])
    cut(view, heads, neurons)
    model.train()(**batch).loss.backward()
    for name, parameter in model.named_parameters():
        assert (parameter.grad is not None) == parameter.requires_grad, name
        assert parameter.requires_grad == (parameter.numel() > 0), name


def test_what_holds_no_model_of_a_family_or_several_is_refused():
    with pytest.raises(
        InputError, match=r"ElectraModel holds 0 models .*, expected one: .*Model or "
    ):
        prunable(foreign())
    with pytest.raises(InputError, match="BartForCausalLM holds 0 models"):
        prunable(BartForCausalLM(small_model("bart").config))
    pair = nn.ModuleList([small_model("gpt2"), small_model("xlm-roberta")])
    with pytest.raises(InputError, match="ModuleList holds 2 models"):
        prunable(pair)


@pytest.mark.parametrize("family", MAKERS)
def test_a_base_model_and_any_module_that_holds_one(family):
    model = small_model(family)
    names = [block.name for block in prunable(model).attention_blocks()]
    for holder in (model.base_model, nn.ModuleDict({"encoder": model.base_model})):
        assert [block.name for block in prunable(holder).attention_blocks()] == names
