"""Students and the distillation loss; loops in float64 check each term."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.hugging_face.small import DEPTHS, GENERATORS, small_batch, small_model
from weebill.errors import InputError
from weebill.generation import distillation as module
from weebill.generation.distillation import (
    chosen_layers,
    distillation,
    distillation_loss,
    evenly_spaced,
    student_of,
)
from weebill.generation.encoding import IGNORED
from weebill.generation.training import likelihood

LAYERS = {
    "bart": {"encoder": [1], "decoder": [0, 2]},
    "gpt2": {"decoder": [0, 2]},
    "t5": {"encoder": [1, 2], "decoder": [0]},
    "gated-t5": {"encoder": [1, 2], "decoder": [0]},
}
STACKS = {
    "bart": "model.decoder.layers",
    "gpt2": "transformer.h",
    "t5": "decoder.block",
    "gated-t5": "decoder.block",
}


def batch_of(family: str) -> dict[str, torch.Tensor]:
    batch = small_batch(family)
    if family != "gpt2":
        mask = batch.pop("decoder_attention_mask").bool()
        labels = batch["labels"]
        batch["decoder_input_ids"] = labels.roll(1, 1).where(mask, 1).clamp(min=0)
        return batch
    tokens, mask = batch["input_ids"], batch["attention_mask"].bool()
    return {
        "input_ids": tokens[:, :-1],
        "attention_mask": mask[:, 1:].long(),
        "labels": tokens[:, 1:].where(mask[:, 1:], IGNORED),
    }


NORMS = {
    "transformer.ln_f": "decoder",
    "encoder.final_layer_norm": "encoder",
    "decoder.final_layer_norm": "decoder",
}  # last modules of stacks


@pytest.mark.parametrize("normalise", [False, True])
def test_all_positions_with_a_mask_give_the_terms_of_the_chosen_ones(normalise):
    """The GPU's way of computing gives the values and gradients of the CPU's way."""
    torch.manual_seed(1)
    mask = torch.rand(3, 7) < 0.6
    student, teacher = (torch.randn(3, 7, 20, requires_grad=True) for _ in range(2))
    for term, last in ((module.hidden_error, normalise), (module.divergence, 2.0)):
        one, other = (
            term(student, teacher, mask, last, everywhere) for everywhere in (False, True)
        )
        torch.testing.assert_close(other, one)
        gradients = (torch.autograd.grad(value, [student, teacher]) for value in (one, other))
        torch.testing.assert_close(*gradients)


class Said:
    """Output of a model: logits, and for each stack the hidden states after each layer.

    If a stack ends with a norm, the library's last states are the norm's output; here they are its input.
    """

    def __init__(self, model, batch):
        given = {key: value for key, value in batch.items() if key != "labels"}
        last = {}
        hooks = [
            module.register_forward_pre_hook(
                lambda _, inputs, stack=NORMS[name]: last.update({stack: inputs[0]})
            )
            for name, module in model.named_modules()
            if name in NORMS
        ]
        with torch.no_grad():
            output = model(**given, output_hidden_states=True, use_cache=False)
        for hook in hooks:
            hook.remove()
        self.logits = output.logits
        every = {
            "encoder": output.get("encoder_hidden_states"),
            "decoder": output.get("decoder_hidden_states") or output.get("hidden_states"),
        }
        self.states = {
            stack: [*states[1:-1], last.get(stack, states[-1])]
            for stack, states in every.items()
            if states is not None
        }


def log_softmax(values: np.ndarray) -> np.ndarray:
    total = sum(math.exp(value - values.max()) for value in values)
    return np.array([value - values.max() - math.log(total) for value in values])


@pytest.mark.parametrize("family", GENERATORS)
@pytest.mark.parametrize("settings", [distillation_loss(), distillation_loss("published-code")])
def test_the_loss_is_that_of_loops(family, settings):
    teacher = small_model(family)
    student = student_of(teacher, LAYERS[family])
    with torch.no_grad():
        for parameter in student.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    batch = batch_of(family)
    ours, theirs = Said(student, batch), Said(teacher, batch)

    def loss(**weights: float) -> float:
        objective = distillation(teacher, LAYERS[family], replace(settings, **weights))
        return objective(student, batch).item()

    labels = batch["labels"].numpy()
    likelihood, divergence, count = 0.0, 0.0, 0
    for row, place in np.ndindex(labels.shape):
        if labels[row, place] == IGNORED:
            continue
        count += 1
        own, wanted = (out.logits[row, place].double().numpy() for out in (ours, theirs))
        likelihood -= log_softmax(own)[labels[row, place]]
        own, wanted = (log_softmax(values / settings.temperature) for values in (own, wanted))
        divergence += sum(math.exp(q) * (q - p) for p, q in zip(own, wanted, strict=True))
    expected = {
        "alpha": likelihood / count,
        "beta": hidden(family, settings, batch, ours, theirs),
        "gamma": settings.temperature**2 * divergence / count,
    }
    for name, value in expected.items():
        others = dict.fromkeys(expected.keys() - {name}, 0.0)
        assert loss(**others, **{name: 1.0}) == pytest.approx(value, rel=1e-4), name
    total = sum(getattr(settings, name) * value for name, value in expected.items())
    assert loss() == pytest.approx(total, rel=1e-4)


def hidden(family, settings, batch, ours, theirs) -> float:
    """Return the term of hidden states, computed by loops."""
    errors = []
    for stack, numbers in LAYERS[family].items():
        mask = batch["attention_mask"] if stack == "encoder" else batch["labels"] != IGNORED
        for place, number in enumerate(numbers):
            own, wanted = ours.states[stack][place], theirs.states[stack][number]
            total = values = 0
            for row, position in np.ndindex(mask.shape):
                if not mask[row, position]:
                    continue
                vectors = [x[row, position].double().numpy() for x in (own, wanted)]
                if settings.normalise:
                    vectors = [(v - v.mean()) / math.sqrt(v.var() + 1e-5) for v in vectors]
                total += sum((a - b) ** 2 for a, b in zip(*vectors, strict=True))
                values += len(vectors[0])
            errors.append(total / values)
    return sum(errors) / (len(errors) if settings.over_layers == "mean" else 1)


@pytest.mark.parametrize("family", GENERATORS)
def test_padding_changes_nothing(family):
    teacher = small_model(family)
    student = student_of(teacher, LAYERS[family])
    objective = distillation(teacher, LAYERS[family], distillation_loss())
    batch = batch_of(family)
    longer = {
        key: torch.nn.functional.pad(
            value, (0, 3), value={"labels": IGNORED, "attention_mask": 0}.get(key, 1)
        )
        for key, value in batch.items()
    }
    with torch.no_grad():
        student.get_input_embeddings().weight.mul_(1.1)
        one, other = (objective(student, each).item() for each in (batch, longer))
    assert one == pytest.approx(other, rel=1e-5)


@pytest.mark.parametrize("family", GENERATORS)
def test_a_student_of_all_layers_is_the_teacher(family):
    teacher = small_model(family)
    layers = {stack: list(range(depth)) for stack, depth in DEPTHS[family].items()}
    student = student_of(teacher, layers)
    batch = batch_of(family)
    assert torch.equal(Said(student, batch).logits, Said(teacher, batch).logits)
    zero = {"alpha": 0.0, "beta": 0.0, "gamma": 0.0}
    for changed, size in (({"beta": 1.0}, 1e-10), ({"gamma": 1.0}, 1e-6)):
        loss = distillation(teacher, layers, distillation_loss(**(zero | changed)))
        assert loss(student, batch).item() == pytest.approx(0, abs=size)
    loss = distillation(teacher, layers, distillation_loss())(student, batch)
    assert loss.item() == pytest.approx(0.1 * likelihood(student, batch).item(), abs=1e-5)


@pytest.mark.parametrize("family", GENERATORS)
def test_a_student_has_the_teachers_weights_and_generates(family):
    teacher = small_model(family)
    student = student_of(teacher, LAYERS[family])
    stack, every = (model.get_submodule(STACKS[family]) for model in (student, teacher))
    for layer, number in zip(stack, LAYERS[family]["decoder"], strict=True):
        for ours, theirs in zip(layer.parameters(), every[number].parameters(), strict=True):
            assert torch.equal(ours, theirs)
    assert {p.data_ptr() for p in stack.parameters()}.isdisjoint(
        p.data_ptr() for p in every.parameters()
    ), "copies, not the same"
    out = student.generate(torch.tensor([[5, 6, 7]]), max_new_tokens=4, do_sample=False)
    assert out.shape[1] <= 7


def test_layers():
    assert evenly_spaced(12, 6) == [0, 2, 4, 7, 9, 11]
    assert evenly_spaced(4, 2) == [0, 3] and evenly_spaced(5, 5) == [0, 1, 2, 3, 4]
    assert evenly_spaced(6, 1) == [0]
    assert chosen_layers(small_model("bart"), 2) == {"encoder": [0, 1], "decoder": [0, 2]}
    for wrong in ([0, 3], [1, 0], [0, 0], [], [-1, 0]):
        with pytest.raises(InputError, match="expected ascending ones of 0…2"):
            chosen_layers(small_model("gpt2"), wrong)
    with pytest.raises(InputError, match="4 layers, but the teacher's decoder has 3; lower"):
        chosen_layers(small_model("gpt2"), 4)
    with pytest.raises(InputError, match="3 layers, but the teacher's encoder has 2; lower"):
        chosen_layers(small_model("bart"), 3)
    assert distillation_loss("published-code").alpha == 0
