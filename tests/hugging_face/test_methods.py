"""Every criterion and every pruning method, for every family."""

from contextlib import ExitStack
from functools import partial
from itertools import product

import pytest
import torch
from torch.nn import functional
from transformers.models.t5.modeling_t5 import T5LayerNorm

from tests.hugging_face.small import (
    DEPTHS,
    HEADS,
    MAKERS,
    NEURONS,
    logits,
    small_batch,
    small_model,
)
from tests.hugging_face.study import VALIDATION, FamilyStudy
from tests.pruning.owned import of_head, of_neuron
from weebill.hugging_face.families import prunable
from weebill.hugging_face.folder import load_model, save_model
from weebill.pruning.criteria import CRITERIA, Candidates
from weebill.pruning.cut import layer_shapes
from weebill.pruning.methods import METHODS, pruning_method
from weebill.pruning.one_shot import OneShot

# One line per method; {side} is replaced by a side that the family has.
SETTINGS = {
    "late-reset": {
        "heads_per_iteration": 2,
        "iterations": 2,
        "iteration_updates": 2,
        "blocks": "*",
    },
    "one-shot": {"heads": 0.25, "neurons": 0.5, "ranking": "layer", "blocks": "{side}.*"},
    "depth": {"layers": 2, "stack": "{side}"},
    "group-lasso": {"strength": 1.0, "threshold": 0.97, "blocks": "*", "regularise_updates": 3},
    "movement": {"heads": 0.5, "neurons": 0.5, "blocks": "*", "prune_updates": 3},
    "from-scratch": {"like": "one-shot"},
    "even": {"neurons": 0.5, "multiple": 1},
}


@pytest.mark.parametrize(
    ("family", "name"),
    [
        (family, name)
        for (i, family), (j, name) in product(enumerate(MAKERS), enumerate(METHODS))
        if (i + j) % 3  # each method leaves out every third family, in turn
    ],
)
def test_every_method(family, name, tmp_path):
    """The result is smaller than the whole model, runs, and is restored from its folder bit for bit."""
    assert name in SETTINGS, f"give method '{name}' a line in SETTINGS"
    side = max(DEPTHS[family], key=DEPTHS[family].__getitem__)
    settings = {
        key: value.format(side=side) if isinstance(value, str) else value
        for key, value in SETTINGS[name].items()
    }
    if METHODS[name].reset_to:
        settings["reset_to"] = 2
    method = pruning_method({"method": name, **settings})
    pruned = method.prune(FamilyStudy(family), tmp_path / "work").model.model
    whole = small_model(family)
    assert sum(p.numel() for p in pruned.parameters()) < sum(p.numel() for p in whole.parameters())
    batch = small_batch(family)
    assert logits(pruned, batch).isfinite().all()
    save_model(tmp_path / "model", pruned)
    loaded = load_model(tmp_path / "model")
    assert layer_shapes(prunable(loaded)) == layer_shapes(prunable(pruned))
    assert torch.equal(logits(loaded, batch), logits(pruned.eval(), batch))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("family", MAKERS)
def test_every_criterion(family, criterion, tmp_path):
    """The half of each block with the lowest scores is removed; the heads' scores differ clearly."""
    neurons = 0.0 if criterion == "confidence" else 0.5
    method = OneShot(criterion, 0.5, neurons, ranking="layer", reset_to=2, blocks="*")
    history = method.prune(FamilyStudy(family), tmp_path).history
    [step] = history["steps"]
    blocks = prunable(small_model(family)).attention_blocks()
    assert step["scores"].keys() == {block.name for block in blocks}
    for name, scores in step["scores"].items():
        assert len(set(scores.values())) == HEADS
        lowest = sorted(scores, key=scores.__getitem__)[: HEADS // 2]
        assert step["removed"]["heads"][name] == sorted(map(int, lowest))
    for name, left in history["survivors"]["neurons"].items():
        assert len(left) == NEURONS - int(neurons * NEURONS), name


@pytest.mark.parametrize("family", MAKERS)
def test_gradient_is_the_derivative_by_a_factor_on_what_a_head_or_neuron_gives(family):
    study, model = FamilyStudy(family), prunable(small_model(family))
    candidates = Candidates.named(model, "*", heads=True, neurons=True)
    scores = CRITERIA["gradient"](study, model, candidates)
    in_double(model.model)
    factors, outputs = {}, {}
    for block in model.attention_blocks():
        factors[block.name], outputs[block.name] = torch.ones(HEADS), block.out.module
    for block in model.feed_forward_blocks():
        factors[block.name], outputs[block.name] = torch.ones(NEURONS), block.outer.module
    factors = {name: ones.double().requires_grad_() for name, ones in factors.items()}

    def scaled(name):
        def hook(_, given):
            (x,) = given
            return (x * factors[name].repeat_interleave(x.shape[-1] // len(factors[name])),)

        return hook

    with ExitStack() as stack:
        for name, module in outputs.items():
            stack.callback(module.register_forward_pre_hook(scaled(name)).remove)
        derivatives = [
            torch.autograd.grad(loss_in_double(study, model, seed), list(factors.values()))
            for seed in VALIDATION
        ]
        expected = [
            sum(map(torch.abs, values)).tolist() for values in zip(*derivatives, strict=True)
        ]
        for name, values in zip(factors, expected, strict=True):
            found = (scores.heads | scores.neurons)[name]
            assert found == pytest.approx(values, rel=1e-3, abs=1e-6), name
            differences = sum(
                abs(difference(study, model, seed, factors[name])) for seed in VALIDATION
            )
            assert differences == pytest.approx(values[1], rel=1e-4, abs=1e-8), name


def in_double(model):
    """Convert a model to float64, including T5's norms, which otherwise compute in float32."""
    for module in model.double().modules():
        if isinstance(module, T5LayerNorm):
            module.forward = partial(
                functional.rms_norm,
                normalized_shape=module.weight.shape,
                weight=module.weight,
                eps=module.variance_epsilon,
            )


def loss_in_double(study, model, seed):
    """Return the study's loss in float64; the library itself would round GPT-2's logits to float32."""
    batch = small_batch(study.family, seed)
    if batch["labels"].is_floating_point():
        batch["labels"] = batch["labels"].double()
    out = model.model(**batch)
    if study.family == "gpt2":
        return functional.cross_entropy(out.logits[:, :-1].mT, batch["labels"][:, 1:])
    return out.loss


def difference(study, model, seed, factor, step=1e-5):
    """Return the derivative of the loss by the second element of a factor, as a finite difference."""
    losses = []
    for sign in (1, -1):
        with torch.no_grad():
            factor[1] += sign * step
            losses.append(loss_in_double(study, model, seed).item())
            factor[1] = 1
    return (losses[0] - losses[1]) / (2 * step)


@pytest.mark.parametrize("family", MAKERS)
def test_magnitude_is_the_norm_of_what_a_head_or_neuron_owns(family):
    model = prunable(small_model(family))
    candidates = Candidates.named(model, "*", heads=True, neurons=True)
    scores = CRITERIA["magnitude"](FamilyStudy(family), model, candidates)

    def norm(owned):
        return torch.cat([values.detach().flatten() for values in owned.values()]).norm().item()

    for block in model.attention_blocks():
        assert scores.heads[block.name] == pytest.approx(
            [norm(of_head(block, head)) for head in range(HEADS)]
        )
    for block in model.feed_forward_blocks():
        assert scores.neurons[block.name] == pytest.approx(
            [norm(of_neuron(block, neuron)) for neuron in range(NEURONS)]
        )
