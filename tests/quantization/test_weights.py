"""The error residual of 4-bit training, in its published form, equals training straight-through masters."""

import copy

import pytest
import torch

from tests.quantization.toy_model import TOKENS, WORDS, Toy
from weebill.quantization.grids import grid_named
from weebill.quantization.modules import fake_quantization, pack_model


def batches(count):
    generator = torch.Generator().manual_seed(7)
    for _ in range(count):
        yield torch.randint(0, WORDS, (4, 5), generator=generator)


def loss_of(model, tokens):
    return torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


@pytest.mark.parametrize("grid", ["log4", "int8"])
def test_keeping_the_error_as_a_residual_is_training_a_master(grid):
    """In the published form, w has quantized numbers, and the residual is added at the next update."""
    published = Toy().double()
    matrices = [published.embedding.weight, published.layer.weight, published.plain.weight]
    quantize = grid_named(grid).round
    residuals = []
    for weight in matrices:
        rounded = quantize(weight.detach()).double()
        residuals.append(weight.detach() - rounded)
        weight.data.copy_(rounded)

    ours = Toy().double()
    fake_quantization(grid)(ours)
    masters = [m.quantized.master for m in (ours.embedding, ours.layer, ours.plain)]
    optimizers = [torch.optim.Adam(model.parameters(), lr=0.01) for model in (published, ours)]
    for tokens in batches(40):
        for model, optimizer in zip((published, ours), optimizers, strict=True):
            optimizer.zero_grad()
            loss_of(model, tokens).backward()
            optimizer.step()
        for weight, residual in zip(matrices, residuals, strict=True):
            moved = weight.detach() + residual
            rounded = quantize(moved).double()
            residual.copy_(moved - rounded)
            weight.data.copy_(rounded)
    for weight, residual, master in zip(matrices, residuals, masters, strict=True):
        assert torch.allclose(weight + residual, master, rtol=1e-9, atol=1e-12)
        assert torch.allclose(weight, quantize(master.detach()).double(), rtol=1e-6)


@pytest.mark.parametrize("grid", ["log4", "int8"])
def test_finetuning_mends_what_quantization_broke(grid):
    def trained(model, updates, rate):
        optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        for tokens in batches(updates):
            optimizer.zero_grad()
            loss_of(model, tokens).backward()
            optimizer.step()
        return model

    held_out = torch.arange(WORDS)[None]
    model = trained(Toy(), 100, 0.01)
    fake_quantization(grid)(model)
    untuned = loss_of(model, held_out).item()
    tuned = pack_model(trained(model, 100, 0.01).eval())
    assert loss_of(tuned, held_out).item() < untuned
    numbers = {"log4": 16, "int8": 255}[grid]
    for weight in (tuned.layer.weight, tuned.embedding.weight):
        assert len(weight.unique()) <= numbers


def test_a_resumed_training_is_the_uninterrupted_one():
    def steps(model, optimizer, tokens):
        for batch in tokens:
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()

    def fresh():
        model = Toy()
        fake_quantization("log4")(model)
        return model, torch.optim.Adam(model.parameters(), lr=0.01)

    data = list(batches(12))
    model, optimizer = fresh()
    steps(model, optimizer, data[:5])
    saved = copy.deepcopy([model.state_dict(), optimizer.state_dict()])
    steps(model, optimizer, data[5:])

    resumed, resumed_optimizer = fresh()
    resumed(TOKENS)  # rounded weights from before loading must be forgotten
    resumed.load_state_dict(saved[0])
    resumed_optimizer.load_state_dict(saved[1])
    steps(resumed, resumed_optimizer, data[5:])
    for a, b in zip(model.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(a, b)
