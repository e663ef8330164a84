"""Distillation to students with fewer layers, which start as copies of teacher layers (TEXTGEN §3.2).

    L = α · CE(labels) + β · MSE(hidden states of matched layers) + γ · T² · KL(teacher ‖ student, both at T)

Every term is a mean over real positions, without padding.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

from weebill.errors import InputError
from weebill.generation.encoding import IGNORED, Batch
from weebill.generation.settings import DistillationLoss
from weebill.generation.training import Objective, cross_entropy, logits_of
from weebill.hugging_face.families import prunable

PAPER = DistillationLoss("paper", 0.1, 3.0, 0.8, 2.0, over_layers="mean", normalise=False)
# The published code sums the layers' errors, normalised over whole batches, padding included.  Here a sentence's
# loss must not depend on its neighbours, so each position is normalised separately.
CODE = DistillationLoss("published-code", 0.0, 3.0, 0.8, 2.0, over_layers="sum", normalise=True)
LOSSES = {one.preset: one for one in (PAPER, CODE)}


def distillation_loss(preset: str = "paper", **changes: float | str | bool) -> DistillationLoss:
    """Return a preset's weights, some of them replaced."""
    return replace(LOSSES[preset], **changes)


def evenly_spaced(layers: int, count: int) -> list[int]:
    """Choose `count` of a stack's layers, the first and the last among them; one alone is the first."""
    if count == 1:
        return [0]
    return [int(place * (layers - 1) / (count - 1) + 0.5) for place in range(count)]


def chosen_layers(teacher: PreTrainedModel, layers: int | Sequence[int]) -> dict[str, list[int]]:
    """Return stack name → the teacher's layers for the student: a number of them evenly spaced, or those listed.

    Raises InputError if the teacher has no such layer, or the list does not ascend.
    """
    chosen = {}
    for stack in prunable(teacher, "distilled").layer_stacks():
        depth = len(stack.layers)
        if isinstance(layers, int) and not 1 <= layers <= depth:
            raise InputError(
                f"distillation: {layers} layers, but the teacher's {stack.name} has {depth}; lower `layers`"
            )
        found = evenly_spaced(depth, layers) if isinstance(layers, int) else list(layers)
        if not found or found != sorted({*range(depth)}.intersection(found)):
            raise InputError(
                f"distillation: layers {found}, expected ascending ones of 0…{depth - 1}, "
                f"which the teacher's {stack.name} has"
            )
        chosen[stack.name] = found
    return chosen


def student_of(teacher: PreTrainedModel, layers: Mapping[str, Sequence[int]]) -> PreTrainedModel:
    """Copy the teacher with only some of its layers; all other weights, embeddings too, are the teacher's."""
    student = copy.deepcopy(teacher)
    for stack in prunable(student).layer_stacks():
        numbers = layers[stack.name]
        for place, number in enumerate(numbers):  # each layer moves before it is replaced
            stack.layers[place] = stack.layers[number]
        stack.keep(len(numbers))
    return student


def hidden_error(
    student: Tensor, teacher: Tensor, mask: Tensor, normalise: bool, everywhere: bool = False
) -> Tensor:
    """Return the mean squared error of hidden states (n, positions, d), averaged over the mask (n, positions).

    everywhere: compute all positions; otherwise the process waits for a GPU to select some.
    """
    student, teacher = ((x if everywhere else x[mask]).float() for x in (student, teacher))
    if normalise:
        student, teacher = (functional.layer_norm(x, x.shape[-1:]) for x in (student, teacher))
    if everywhere:
        errors = functional.mse_loss(student, teacher, reduction="none").mean(-1)
        return _masked_mean(errors, mask)
    return functional.mse_loss(student, teacher)


def divergence(
    student: Tensor, teacher: Tensor, mask: Tensor, temperature: float, everywhere: bool = False
) -> Tensor:
    """Return T² · KL(teacher ‖ student) of logits (n, positions, V) at temperature T, averaged over the mask.

    everywhere: as in `hidden_error`.
    """
    student, teacher = (
        functional.log_softmax((x if everywhere else x[mask]).float() / temperature, -1)
        for x in (student, teacher)
    )
    reduction = "none" if everywhere else "batchmean"
    kl = functional.kl_div(student, teacher, reduction=reduction, log_target=True)
    return (_masked_mean(kl.sum(-1), mask) if everywhere else kl) * temperature**2


def _masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of values over a mask of the same shape."""
    return values.masked_fill(~mask, 0).sum() / mask.sum()


def distillation(
    teacher: PreTrainedModel, layers: Mapping[str, Sequence[int]], weights: DistillationLoss
) -> Objective:
    """Return the training objective of a student with these layers of the teacher."""
    teacher = teacher.eval().requires_grad_(False)

    def objective(student: nn.Module, batch: Batch) -> Tensor:
        labels = batch["labels"]
        teacher.to(labels.device)
        with _hidden_states(student) as ours:
            logits = logits_of(student, batch, use_cache=False).logits
        with torch.no_grad(), _hidden_states(teacher) as theirs:
            wanted = logits_of(teacher, batch, use_cache=False).logits
        spoken, on_gpu = labels != IGNORED, labels.is_cuda
        errors = []
        for stack, numbers in layers.items():
            mask = batch["attention_mask"].bool() if stack == "encoder" else spoken
            for states, number in zip(ours[stack], numbers, strict=True):
                pair = states, theirs[stack][number]
                errors.append(hidden_error(*pair, mask, weights.normalise, on_gpu))
        hidden = torch.stack(errors).mean() if weights.over_layers == "mean" else sum(errors)
        return (
            weights.alpha * cross_entropy(logits, labels)
            + weights.beta * hidden
            + weights.gamma * divergence(logits, wanted, spoken, weights.temperature, on_gpu)
        )

    return objective


@contextmanager
def _hidden_states(model: nn.Module) -> Iterator[dict[str, list[Tensor]]]:
    """Record stack name → outputs (n, positions, d) of each of its layers in a forward pass within the context."""
    seen: dict[str, list[Tensor]] = {}

    def see(states: list[Tensor], _module, _arguments, output) -> None:
        states.append(output[0] if isinstance(output, tuple) else output)

    with ExitStack() as hooks:
        for stack in prunable(model).layer_stacks():
            states = seen[stack.name] = []
            for layer in stack.layers:
                hooks.enter_context(layer.register_forward_hook(partial(see, states)))
        yield seen
