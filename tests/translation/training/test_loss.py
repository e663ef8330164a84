"""The sliced loss, compared with torch's cross-entropy, and guided alignment, compared with a plain loop."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.translation.conftest import small_architecture
from weebill.errors import InputError
from weebill.translation.model.batch import make_batch
from weebill.translation.model.network import Translator
from weebill.translation.training import loss
from weebill.translation.training.loss import alignment_loss, batch_loss, guided_attention
from weebill.translation.training.trainer import new_network


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_equals_torch_with_gradients(label_smoothing, monkeypatch):
    monkeypatch.setattr(loss, "SLICE", 4)
    torch.manual_seed(1)
    hidden, weight, bias = torch.randn(10, 6), torch.randn(23, 6), torch.randn(23)
    target, factor = torch.randint(0, 23, (10,)), torch.rand(10)
    operands = [value.double().requires_grad_() for value in (hidden, weight, bias)]
    logits = operands[0] @ operands[1].T + operands[2]
    each = functional.cross_entropy(
        logits, target, reduction="none", label_smoothing=label_smoothing
    )
    expected = (each * factor).sum()
    expected.backward()
    ours = [value.clone().requires_grad_() for value in (hidden, weight, bias)]
    result = loss.output_cross_entropy(*ours, target, factor, label_smoothing)
    (2 * result).backward()
    assert result.item() == pytest.approx(expected.item(), rel=1e-5)
    for mine, oracle in zip(ours, operands, strict=True):
        torch.testing.assert_close(mine.grad, 2 * oracle.grad.float(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["ssru", "attention"])
def test_the_host_never_waits_for_a_number_of_the_device(kind, monkeypatch):
    """Tensors without data (device meta) stand for a GPU's: a copy to the host, which would wait, fails."""
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device: False)  # it rejects meta
    network = new_network(small_architecture(12, kind), seed=1, dropout=0.1).to("meta").train()
    batch = make_batch([[5, 6, 7, 0], [8, 0]], [[9, 4, 0], [3, 2, 6, 0]]).to("meta")
    result = loss.batch_loss(network, batch, batch.words, label_smoothing=0.1)
    result.backward()
    assert all(p.grad.shape == p.shape for p in network.parameters() if p.requires_grad)


SOURCES, TARGETS = [[5, 6, 7, 0], [8, 0]], [[9, 4, 0], [3, 2, 6, 0]]


LINKS = [np.array([[0, 1], [2, 1], [1, 0]]), np.array([[0, 2]])]


def guided_head(network, batch):
    """Return attention (b, t, s) of the first head of the last layer, computed from its weights."""
    memory = network.encode(batch.source, batch.source_mask)
    x = network.embed(batch.decoder_input)
    mask = batch.source_mask[:, None, None, :]
    *before, last = network.decoder_layers()
    for layer in before:
        x = layer(x, memory, mask)
    mixed = last.recurrence(x) if last.kind == "ssru" else last.self_attention(x, None, causal=True)
    x = last.self_norm(x + mixed)
    attention, size = last.cross_attention, last.cross_attention.head_size
    query, key = attention.query(x)[..., :size], attention.key(memory)[..., :size]
    scores = query @ key.transpose(1, 2) / size**0.5
    return scores.masked_fill(~batch.source_mask[:, None, :], -torch.inf).softmax(-1)


@pytest.mark.parametrize(
    ("kind", "tied"), [("ssru", True), ("ssru", False), ("attention", True), ("attention", False)]
)
def test_loss_and_gradient_are_those_of_a_loop(kind, tied):
    torch.manual_seed(1)
    network = Translator(small_architecture(12, kind, tied)).eval()
    batch = make_batch(SOURCES, TARGETS, [1.0, 0.25], LINKS)

    def gradients(loss):
        network.zero_grad()
        loss.backward()
        return [None if p.grad is None else p.grad.clone() for p in network.parameters()]

    plain = batch_loss(network, batch, words=7)
    head = guided_head(network, batch)
    total = 0.0
    for pair, links in enumerate(LINKS):
        for target in set(links[:, 1].tolist()):
            linked = links[links[:, 1] == target, 0].tolist()
            for source in linked:
                share = [1.0, 0.25][pair] / len(linked)
                total = total - share * torch.log(head[pair, target, source] + 1e-6)
    expected = plain + 0.1 * total / 7
    guided = batch_loss(network, batch, words=7, guided_alignment=0.1)
    assert guided.item() == pytest.approx(expected.item(), rel=1e-5)
    assert guided.item() > plain.item()
    for ours, oracle in zip(gradients(guided), gradients(expected), strict=True):
        torch.testing.assert_close(ours, oracle, rtol=1e-3, atol=1e-6)
    assert network.decoder_layers()[-1].cross_attention.record is None


def test_pairs_without_links_have_no_part():
    torch.manual_seed(1)
    network = Translator(small_architecture(12)).eval()
    none = [np.empty((0, 2))] * 2
    batch = make_batch(SOURCES, TARGETS, links=none)
    plain = batch_loss(network, batch, words=7)
    guided = batch_loss(network, batch, words=7, guided_alignment=0.1)
    # Recorded attention does not use torch's fused kernel: the last bit may differ.
    assert guided.item() == pytest.approx(plain.item(), rel=1e-6)
    guided.backward()


def test_a_head_that_is_gone_is_one_error():
    shape = small_architecture(12)
    network = Translator(replace(shape, decoder=(replace(shape.decoder[0], heads=0),)))
    with pytest.raises(InputError, match="no head left to guide"), guided_attention(network):
        pass


def test_the_head_of_a_copying_task_follows_its_links():
    """Targets are reversed sources, so the head should attend to the last source piece first."""
    generator, letters = np.random.default_rng(1), np.arange(2, 12)
    network = new_network(small_architecture(12), seed=1)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)

    def batch():
        sources = [generator.permutation(letters)[: generator.integers(3, 7)] for _ in range(32)]
        links = [np.array([[len(s) - 1 - i, i] for i in range(len(s))]) for s in sources]
        ended = [[*s, 0] for s in sources], [[*s[::-1], 0] for s in sources]
        return make_batch(*ended, links=links)

    def agreement():
        seen = batch()
        with torch.no_grad(), guided_attention(network) as attention:
            memory = network.encode(seen.source, seen.source_mask)
            network.decode(seen.decoder_input, memory, seen.source_mask)
        pair, target, source = seen.links.unbind(1)
        return float((attention[0][pair, target].argmax(-1) == source).float().mean())

    before = agreement()
    for _ in range(120):
        optimizer.zero_grad()
        now = batch()
        batch_loss(network, now, now.words, guided_alignment=0.5).backward()
        optimizer.step()
    assert before < 0.5
    assert agreement() > 0.8  # the rest depends on the processor's rounding


def test_shares_of_several_links_of_a_piece():
    batch = make_batch(SOURCES, TARGETS, links=LINKS)
    assert batch.links.tolist() == [[0, 1, 0], [0, 1, 2], [0, 0, 1], [1, 2, 0]]
    assert batch.link_shares.tolist() == [0.5, 0.5, 1.0, 1.0]
    probabilities = torch.full((2, 4, 4), 0.5)
    loss = alignment_loss(probabilities, batch, words=1)
    assert loss.item() == pytest.approx(-3 * np.log(0.5 + 1e-6))
