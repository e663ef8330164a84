"""Recorded passes of padded batches, compared with eager passes, on the CPU by plain calls and on a GPU."""

import logging
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.translation.conftest import small_architecture
from weebill.kernels.graphs import GraphRecorder, PlainRecorder
from weebill.translation.model.batch import make_batch
from weebill.translation.training import parts, recorded
from weebill.translation.training.loss import batch_loss
from weebill.translation.training.recorded import RecordedPasses, padded, rounded_pairs
from weebill.translation.training.settings import Hardware, TrainingConfig
from weebill.translation.training.trainer import new_network, train

PIECES = 40


def random_batches(count, seed=1, longest=12):
    """Return batches of few rounded shapes, with different weights."""
    random = np.random.default_rng(seed)
    batches = []
    for _ in range(count):
        pairs = int(random.integers(5, 8))
        sides = [
            [[*random.integers(2, PIECES, random.integers(1, longest)), 0] for _ in range(pairs)]
            for _ in range(2)
        ]
        batches.append(make_batch(*sides, random.random(pairs)))
    return batches


def passes_of(network, autocast=nullcontext, smoothing=0.1):
    """Return the passes of a training, for batches already divided by their words."""

    def passes(batch):
        with autocast():
            loss = batch_loss(network, batch, 1, smoothing)
        loss.backward()
        return loss.detach()

    return passes


def gradients(network):
    """Return the gradients of all weights as one vector."""
    return torch.cat([p.grad.flatten() for p in network.parameters() if p.requires_grad])


def distance(one, other):
    """Return the largest error, relative to the largest number."""
    return float((one - other).abs().max() / other.abs().max())


def test_numbers_of_pairs_grow_by_at_most_a_quarter_to_four_values_an_octave():
    found = [rounded_pairs(pairs) for pairs in range(1, 300)]
    for pairs, rounded in enumerate(found, start=1):
        assert pairs <= rounded <= max(pairs * 1.25, pairs + 1)
        assert rounded_pairs(rounded) == rounded
    assert set(found[128:256]) == {160, 192, 224, 256}


def test_padding_counts_nothing_and_every_query_sees_a_key():
    batch = padded(make_batch([[5, 6, 0], [7, 0]] * 3, [[8, 0], [9, 10, 11, 0]] * 3), words=18)
    assert batch.source.shape == batch.target.shape == batch.decoder_input.shape == (6, 8)
    assert batch.source_mask.any(1).all()
    assert batch.target_mask.sum() == 18
    assert batch.places.tolist() == list(range(48))
    assert batch.weight.sum() == pytest.approx(6 / 18)
    more = padded(make_batch([[5, 6, 0]] * 9, [[8, 0]] * 9), words=9)
    assert more.source.shape == (10, 8)
    assert more.source_mask.sum(1).tolist() == [3] * 9 + [1]
    assert (more.weight[9], more.target_mask[9].any().item()) == (0, False)
    assert more.decoder_input[9].tolist() == [-1, *[0] * 7]


@pytest.mark.parametrize(("kind", "tied"), [("ssru", True), ("attention", False)])
def test_losses_and_gradients_are_those_of_eager_batches(kind, tied):
    batches = random_batches(30)
    eager, network = (new_network(small_architecture(PIECES, kind, tied), 3) for _ in range(2))
    passes = RecordedPasses(network, passes_of(network), PlainRecorder())
    for number, batch in enumerate(batches):
        expected = batch_loss(eager, batch, batch.words, 0.1)
        expected.backward()
        found = passes(padded(batch, batch.words))
        assert float(found) == pytest.approx(expected.item(), rel=1e-6)
        if number % 3 == 2:  # three batches per update
            assert distance(gradients(network), gradients(eager)) < 2e-6
            eager.zero_grad()
            network.zero_grad(set_to_none=False)
    assert passes.replays > 10, "too few passes were recorded to prove anything"


def test_a_whole_training_is_that_of_eager_passes(tmp_path, corpus, vocabulary, monkeypatch):
    """Biases of keys are not compared: they have no effect, and Adam makes steps of their rounding errors."""
    config = TrainingConfig(
        batch_tokens=600, updates=12, learning_rate=0.003, warmup=4, validate_every=6, patience=0,
        accumulate=2, smoothing=0.01, label_smoothing=0.1, clip_norm=1.0,
    )  # fmt: skip
    weights, histories, recorded, replayed = [], [], [], []

    class Counted(PlainRecorder):
        def record(self, work):
            recorded.append(work)
            return lambda: replayed.append(work) or work()

    for recorder in (None, Counted):
        monkeypatch.setattr(parts, "_recorder", lambda *_, recorder=recorder: recorder)
        network = new_network(small_architecture(len(vocabulary)), seed=1)
        data = [corpus], corpus.with_name("validation.parquet"), vocabulary, config
        result = train(network, *data, seed=5, work=tmp_path / str(recorder), keep="last")
        named = network.named_parameters()
        weights.append({name: value for name, value in named if not name.endswith("key.bias")})
        histories.append(result.history)
    torch.testing.assert_close(*weights, rtol=0, atol=1e-4)
    assert histories[0] == histories[1]
    assert len(replayed) - len(recorded) > 5, "too few passes were replayed to prove anything"


def test_a_shape_is_recorded_when_it_comes_again_up_to_a_number_of_graphs(monkeypatch):
    monkeypatch.setattr(recorded, "MOST", 1)
    network = new_network(small_architecture(PIECES), 3)
    made = []

    class Counted(PlainRecorder):
        def record(self, work):
            made.append(work)
            return work

    passes = RecordedPasses(network, passes_of(network), Counted())
    short, long = (padded(make_batch([[5, 0]] * n, [[6, 0]] * n), n) for n in (4, 8))
    for times in range(1, 7):
        passes(short)
        assert (len(made), passes.replays) == (times >= 4, max(0, times - 3))
    for _ in range(6):
        passes(long)
    assert (len(made), passes.replays) == (1, 3)


def test_a_failed_recording_leaves_the_eager_pass_and_one_line_in_the_log(caplog):
    network = new_network(small_architecture(PIECES), 3)
    batch = padded(make_batch([[5, 0]] * 4, [[6, 0]] * 4), 8)
    passes = RecordedPasses(network, passes_of(network), recorder := PlainRecorder())
    losses = [float(passes(batch)) for _ in range(2)]
    recorder.record = lambda work: (_ for _ in ()).throw(RuntimeError("no stream"))
    with caplog.at_level(logging.WARNING):
        losses += [float(passes(batch)) for _ in range(5)]
    assert caplog.text.count("no CUDA graph of a batch can be recorded") == 1
    assert len(set(losses)) == 1
    assert passes.replays == 0
    expected = new_network(small_architecture(PIECES), 3)
    (7 * batch_loss(expected, batch, 1, 0.1)).backward()
    assert distance(gradients(network), gradients(expected)) < 1e-5


def test_weights_in_other_memory_are_recorded_again():
    network = new_network(small_architecture(PIECES), 3)
    batch = padded(make_batch([[5, 0]] * 4, [[6, 0]] * 4), 4)
    made = []
    recorder = PlainRecorder()
    recorder.record = lambda work: made.append(work) or work
    recorder.forget = made.clear
    passes = RecordedPasses(network, passes_of(network), recorder)
    for _ in range(6):
        passes(batch)
    (first,) = made
    network.embedding.weight.data = network.embedding.weight.data.clone()
    passes(batch)
    (second,) = made
    assert second is not first


def test_only_small_batches_of_small_networks_wait_for_the_host():
    network = new_network(replace(small_architecture(32_000), embedding=256), 1)  # 8 million
    assert recorded.keeps_card_waiting(network, 16_384)
    assert not recorded.keeps_card_waiting(network, 1_000_000)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["ssru", "attention"])
@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_on_a_card_a_replay_is_the_eager_pass_with_the_same_seed(kind, dropout):
    """Losses, gradients and dropout of graphs equal those of plain calls on the GPU, for several batch shapes."""

    def autocast():
        return torch.autocast("cuda", torch.bfloat16, cache_enabled=False)

    networks = [
        new_network(small_architecture(PIECES, kind, False), 3, dropout).cuda().train()
        for _ in range(2)
    ]
    recorders = PlainRecorder(), GraphRecorder()
    plain, graphs = (
        RecordedPasses(network, passes_of(network, autocast), recorder)
        for network, recorder in zip(networks, recorders, strict=True)
    )
    for number, batch in enumerate(random_batches(60)):
        batch = padded(batch, batch.words).pin_memory().to(torch.device("cuda"))
        losses = []
        for passes, network in zip((plain, graphs), networks, strict=True):
            torch.cuda.manual_seed_all(number)
            network.zero_grad(set_to_none=False)
            losses.append(float(passes(batch)))
        assert losses[1] == pytest.approx(losses[0], rel=1e-3), (number, graphs.replays)
        off = distance(gradients(networks[1]), gradients(networks[0]))
        assert off < 2e-2, (number, off, graphs.replays)
    assert graphs.possible
    assert graphs.replays > 20


@pytest.mark.gpu
def test_on_a_card_hundreds_of_replays_need_no_more_memory():
    network = new_network(small_architecture(PIECES), 3, 0.1).cuda().train()
    passes = RecordedPasses(network, passes_of(network), GraphRecorder())
    batches = [padded(b, b.words).to(torch.device("cuda")) for b in random_batches(40, longest=30)]
    used = []
    for _ in range(12):
        for batch in batches:
            passes(batch)
        torch.cuda.synchronize()
        used.append(torch.cuda.memory_allocated())
    assert passes.possible
    assert used[-1] == used[6], used


@pytest.mark.gpu
def test_on_a_card_a_pass_that_asks_the_device_goes_on_eagerly(caplog):
    network = new_network(small_architecture(PIECES), 3, 0.1).cuda().train()
    plain = passes_of(network)

    def asks(batch):
        loss = plain(batch)
        assert loss.item() > 0
        return loss

    passes = RecordedPasses(network, asks, GraphRecorder())
    batch = padded(make_batch([[5, 0]] * 4, [[6, 0]] * 4), 4).to(torch.device("cuda"))
    with caplog.at_level(logging.WARNING):
        losses = [float(passes(batch)) for _ in range(8)]
    assert not passes.possible and passes.replays == 0
    assert caplog.text.count("no CUDA graph") == 1
    assert len(set(losses)) > 1, "the dropout of each pass differs, unless its generator is stuck"


@pytest.mark.gpu
def test_on_a_card_a_training_learns_with_graphs_as_without(tmp_path, corpus, vocabulary):
    config = TrainingConfig(
        batch_tokens=300, updates=400, learning_rate=0.01, warmup=20, validate_every=200, patience=0,
        smoothing=0.01, precision="float32",
    )  # fmt: skip
    histories = []
    for cuda_graphs in (True, False):
        network = new_network(small_architecture(len(vocabulary)), seed=1)
        data = [corpus], corpus.with_name("validation.parquet"), vocabulary
        result = train(
            network, *data, replace(config, cuda_graphs=cuda_graphs),
            seed=5, work=tmp_path / str(cuda_graphs), hardware=Hardware(accelerator="gpu"),
        )  # fmt: skip
        histories.append([row["bleu"] for row in result.history])
    assert histories[0] == pytest.approx(histories[1], abs=2), histories
    assert histories[0][-1] > 2 * histories[0][0] > 10, histories
