"""Families with nearly the code of another family: one test of each promise, by masked models and arithmetic."""

import pytest
import torch

from tests.hugging_face.small import (
    DECODERS,
    HEAD_SIZE,
    HEADS,
    MORE,
    NEURONS,
    WIDTH,
    logits,
    small_batch,
    small_model,
)
from tests.hugging_face.test_cutting import hand_on, in_turn, parameters
from tests.pruning.masking import masked
from tests.pruning.owned import of_head
from weebill.generation.distillation import chosen_layers, student_of
from weebill.hugging_face.families import FAMILIES, family_name, model_types, prunable
from weebill.hugging_face.folder import load_model, save_model
from weebill.pruning.criteria import ConfidenceAccumulator
from weebill.pruning.cut import cut

GROUPED = ("llama", "mistral", "qwen2", "qwen3")


def removed(view):
    """Return heads and neurons to remove: in turn all, some and none of a block."""
    heads = in_turn(view.attention_blocks(), [range(HEADS), [1, 3], [], [0]])
    return heads, in_turn(view.feed_forward_blocks(), [[1, 4, 19], range(NEURONS), []])


def continued(model, family, **options):
    """Return the texts that a model generates from prompts of equal length."""
    prompt = small_batch(family)["input_ids"][:, :2].clamp(min=3)
    mask = torch.ones_like(prompt)
    tokens = model.generate(
        prompt, attention_mask=mask, min_new_tokens=9, max_new_tokens=9, **options
    )
    return tokens.tolist()


@pytest.mark.parametrize("family", MORE)
def test_a_cut_model_is_the_masked_one_before_and_after_its_folder(family, tmp_path):
    model, batch = small_model(family), small_batch(family)
    view, before = prunable(model), parameters(model)
    heads, neurons = removed(view)
    with masked(view, heads, neurons):
        expected = logits(model, batch)
        texts = continued(model, family, use_cache=False)
    cut(view, heads, neurons)
    torch.testing.assert_close(logits(model, batch), expected, rtol=0, atol=3e-5)
    assert continued(model, family) == continued(model, family, use_cache=False) == texts
    save_model(tmp_path, model)
    loaded = load_model(tmp_path)
    assert torch.equal(logits(loaded, batch), logits(model, batch))
    # A grouped head consists of two query heads and their inputs of the output map.
    wide, biases = (2, 0) if family in GROUPED else (1, family not in ("mt5", *GROUPED))
    each = 2 * (wide + 1) * WIDTH * HEAD_SIZE + 3 * HEAD_SIZE * biases
    if family == "qwen2":  # query, key and value have biases
        each += 4 * HEAD_SIZE
    gated = family in ("mt5", *GROUPED)
    gone = sum(map(len, heads.values())) * each
    gone += sum(map(len, neurons.values())) * ((2 + gated) * WIDTH + biases)
    assert before - parameters(model) == gone


@pytest.mark.parametrize("family", MORE)
def test_a_student_has_the_layers_of_its_teacher(family):
    """The student lacks layers that return their input; each layer has its place in the cache."""
    model, batch = small_model(family), small_batch(family)
    student = student_of(model, chosen_layers(model, 2))
    for stack in prunable(model).layer_stacks():
        if len(stack.layers) == 3:
            stack.layers[1].register_forward_hook(hand_on)
    torch.testing.assert_close(logits(student, batch), logits(model, batch), rtol=0, atol=3e-5)
    assert continued(student, family) == continued(student, family, use_cache=False)


@pytest.mark.parametrize("family", MORE)
def test_scores_of_heads(family):
    """Scores are in [1/keys, 1], because rows of softmax sum to 1; the heads' parameters sum to the block's."""
    model, batch = small_model(family), small_batch(family)
    blocks = prunable(model).attention_blocks()
    accumulator = ConfidenceAccumulator(blocks)
    with accumulator.recording(), torch.inference_mode():
        model(**batch)
    for block in blocks:
        scores = accumulator.result()[block.name]
        assert len(scores) == HEADS and all(1 / 9 <= score <= 1 + 1e-6 for score in scores)
        owned = sum(value.numel() for i in range(HEADS) for value in of_head(block, i).values())
        maps = {block.query.module, block.key.module, block.value.module, block.out.module}
        biases = 0 if block.out.bias is None else block.out.bias.numel()
        assert owned == sum(map(parameters, maps)) - biases


def test_a_group_counts_by_the_mean_of_its_heads():
    model = small_model("llama")
    block = prunable(model).attention_blocks()[0]
    attention = torch.rand(2, 2 * HEADS, 3, 5)
    accumulator = ConfidenceAccumulator([block])
    accumulator.add(block.name, attention, None)
    largest = attention.amax(-1).mean((0, 2))  # of each query head
    expected = [(largest[2 * i] + largest[2 * i + 1]).item() / 2 for i in range(HEADS)]
    assert accumulator.result()[block.name] == pytest.approx(expected)


@pytest.mark.parametrize("family", ["llama", "mt5"])
def test_a_cut_model_of_groups_and_gates_still_learns(family):
    model, batch = small_model(family), small_batch(family)
    cut(prunable(model), *removed(prunable(model)))
    model.train()(**batch).loss.backward()
    for name, parameter in model.named_parameters():
        assert (parameter.grad is not None) == parameter.requires_grad, name


def test_families_by_type_and_by_class():
    wanted = {"bart", "marian", "mbart", "m2m_100", "pegasus", "t5", "mt5", "gpt2", "opt", "llama"}
    assert model_types() >= wanted | {"mistral", "qwen2", "qwen3", "xlm-roberta"}
    for family in MORE:
        model = small_model(family)
        assert model.config.model_type in model_types()
        assert prunable(model).__class__ is FAMILIES[family_name(type(prunable(model).core))]
        assert model.config.is_encoder_decoder != (family in DECODERS)
