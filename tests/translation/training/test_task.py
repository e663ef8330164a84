"""A training's learning rate and smoothed weights follow their formulas."""

import weakref
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace

import pytest
import torch

from tests.translation.conftest import small_architecture
from weebill.translation.model.batch import make_batch
from weebill.translation.training import task as updates
from weebill.translation.training.encoding import encode_corpus
from weebill.translation.training.loss import batch_loss
from weebill.translation.training.settings import TrainingConfig
from weebill.translation.training.task import TranslationTask, UpdateStream
from weebill.translation.training.trainer import new_network, unwatched

CONFIG = TrainingConfig(smoothing=0.01)


def test_learning_rate_and_smoothing_follow_marian(vocabulary):
    config = TrainingConfig(learning_rate=3e-4, warmup=100, smoothing=0.25)
    network = new_network(small_architecture(len(vocabulary)), seed=1)
    task = TranslationTask(network, config, seed=1)
    assert task.rate(1) == pytest.approx(3e-6)
    assert task.rate(100) == pytest.approx(3e-4)
    assert task.rate(400) == pytest.approx(1.5e-4)
    before = task.smoothed[0].clone()
    with torch.no_grad():
        network.embedding.weight.add_(1.0)
    task.smooth(2)  # early: 1 − 3/12
    torch.testing.assert_close(task.smoothed[0], before + 0.75)
    task.smooth(1000)  # late: 0.25
    torch.testing.assert_close(task.smoothed[0], before + 0.75 + 0.25 * 0.25)


def test_a_linear_decay_ends_with_the_whole_training(vocabulary):
    config = TrainingConfig(learning_rate=1e-3, warmup=10, updates=109, decay="linear")
    network = new_network(small_architecture(len(vocabulary)), seed=1)
    whole = TranslationTask(network, config, seed=1)
    assert [whole.rate(n) for n in (1, 10, 60, 109)] == pytest.approx([1e-4, 1e-3, 5e-4, 1e-5])
    assert [whole.rate(n) for n in (110, 111, 500)] == [0.0, 0.0, 0.0]
    for part in (unwatched(config, 60), config.part(50)):
        assert TranslationTask(network, part, seed=1).rate(60) == pytest.approx(5e-4)


def test_the_output_has_the_smoothed_weights_of_the_embedding(vocabulary):
    network = new_network(small_architecture(len(vocabulary)), seed=1)
    task = TranslationTask(network, CONFIG, seed=1)
    expected = network.embedding.weight.detach() + 1
    names = [name for name, _ in network.named_parameters()]
    task.smoothed[names.index("embedding.weight")] += 1
    kept = new_network(small_architecture(len(vocabulary)), seed=2)
    kept.load_state_dict(task.evaluated())
    assert kept.output.weight is kept.embedding.weight
    torch.testing.assert_close(kept.embedding.weight.detach(), expected)


def test_smoothed_weights_follow_the_network_to_its_device(vocabulary):
    """The trainer reads a checkpoint with tensors on the CPU before it moves the network."""
    task = TranslationTask(new_network(small_architecture(len(vocabulary)), seed=1), CONFIG, seed=1)
    task.to("meta")
    task.on_train_start()
    assert {value.device.type for value in task.smoothed} == {"meta"}


def test_another_thread_prepares_the_same_updates_from_any_update_on(
    corpus, vocabulary, tmp_path, monkeypatch
):
    """A stream for a GPU (without pinned memory here) gives the updates of a stream for a CPU."""
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda value: value.clone())
    config = replace(CONFIG, batch_tokens=200, accumulate=2)
    data = encode_corpus([corpus], vocabulary, tmp_path / "encoded", 50)
    streams = [UpdateStream(data, config, seed=3) for _ in range(2)]
    streams[1].pinned = True
    for first in (0, 4):
        for stream in streams:
            stream.first_update = first
        for (ours, words), (plain, expected) in islice(zip(*streams[::-1], strict=True), 5):
            assert words == expected
            for one, other in zip(ours, plain, strict=True):
                for name, value in vars(other).items():
                    assert value is None or torch.equal(getattr(one, name), value)


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_tensors_of_one_batch_are_alive_at_a_time_and_gradients_exchanged_once(
    vocabulary, monkeypatch, ranks
):
    network = new_network(small_architecture(len(vocabulary)), seed=1)
    task = TranslationTask(network, CONFIG, seed=1)
    alive, at_begins, exchanges, blocked = weakref.WeakSet(), [], [], []

    class Saved:
        def __init__(self, value):
            self.value = value
            alive.add(self)

    @contextmanager
    def block():
        blocked.append(True)
        yield
        blocked.pop()

    def counted(*arguments):
        at_begins.append(len(alive))
        return batch_loss(*arguments)

    def backward(loss):
        exchanges.append(not blocked)
        assert len(alive) > 10
        loss.backward()

    trainer = SimpleNamespace(world_size=ranks, strategy=SimpleNamespace(block_backward_sync=block))
    monkeypatch.setattr(TranslationTask, "trainer", trainer)
    monkeypatch.setattr(task, "manual_backward", backward)
    monkeypatch.setattr(updates, "batch_loss", counted)
    batches = [make_batch([[5, 6, 0]] * n, [[7, 0]] * n) for n in (3, 4, 5)]
    with torch.autograd.graph.saved_tensors_hooks(Saved, lambda saved: saved.value):
        total = task._backward(batches, 24)
    assert at_begins == [0, 0, 0]
    assert exchanges == ([True] * 3 if ranks == 1 else [False, False, True])
    expected = sum(batch_loss(network, batch, 24).detach() * ranks for batch in batches)
    torch.testing.assert_close(total, expected)
