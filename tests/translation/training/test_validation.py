"""Validations keep the best weights and end a training; beside a training they find the same."""

import threading
from contextlib import suppress
from dataclasses import replace

import pytest
import torch

from tests.translation.conftest import small_architecture
from tests.translation.training.small_training import CONFIG, run
from weebill.kernels import graphs
from weebill.translation.search import run as search_run
from weebill.translation.training import validation
from weebill.translation.training.checkpoints import Checkpoints
from weebill.translation.training.recorded import RecordedPasses
from weebill.translation.training.settings import Hardware
from weebill.translation.training.task import TranslationTask
from weebill.translation.training.trainer import new_network, tensors_hash
from weebill.translation.training.validation import GreedyValidation

BESIDE = Hardware(accelerator="rehearsal")  # validates in another thread, as on a GPU
EVERY = pytest.mark.parametrize("hardware", [Hardware(), BESIDE], ids=["within", "beside"])


@EVERY
def test_patience_stops(tmp_path, corpus, vocabulary, hardware):
    """A score that comes later ends the training later, but with the same best weights and history."""
    config = replace(CONFIG, learning_rate=1e-9, validate_every=2, patience=3, updates=500)
    _, result = run(corpus, vocabulary, tmp_path, config, rising=False, hardware=hardware)
    assert result.updates == (8 if hardware is not BESIDE else 10)
    assert [row["update"] for row in result.history] == [2, 4, 6, 8]
    assert result.best["update"] == 2


def score_by_update(monkeypatch, scores):
    """Make validations give these scores after these updates."""
    monkeypatch.setattr(GreedyValidation, "_bleu", lambda _, network, update: scores[update])


def test_the_best_validation_is_kept(tmp_path, corpus, vocabulary, monkeypatch):
    score_by_update(monkeypatch, {2: 10.0, 4: 30.0, 6: 20.0})
    config = replace(CONFIG, updates=6, validate_every=2)
    network, result = run(corpus, vocabulary, tmp_path / "whole", config, rising=False)
    assert result.best == {"update": 4, "bleu": 30.0}
    expected, _ = run(corpus, vocabulary, tmp_path / "until", replace(config, updates=4))
    assert tensors_hash(network.state_dict()) == tensors_hash(expected.state_dict())


def test_validation_counts_the_tokens_of_the_language(tmp_path, vocabulary, monkeypatch):
    monkeypatch.setattr(validation, "greedy_translations", lambda *_: ["今天天气很好我们去公园"])
    given = (["a"], ["今天天气非常好我们去公园"], vocabulary)
    network = new_network(small_architecture(len(vocabulary)), seed=1)
    scores = [
        GreedyValidation(*given, replace(CONFIG, language=language), tmp_path)._bleu(network, 1)
        for language in ("zh", "")
    ]
    assert scores[0] > 40 and scores[1] == 0


def test_a_validation_leaves_no_memory_of_its_search(tmp_path, corpus, vocabulary, monkeypatch):
    """If the search were lasting, its memory and graphs would stay on the GPU during training."""
    lasting, translate = [], search_run.greedy_batch

    def greedy_batch(ensemble, *given):
        assert not any(network.training for network in ensemble.networks)
        lasting.append(ensemble.lasting)
        return translate(ensemble, *given)

    monkeypatch.setattr(search_run, "greedy_batch", greedy_batch)
    run(corpus, vocabulary, tmp_path, replace(CONFIG, updates=2, validate_every=1))
    assert lasting and not any(lasting)


def test_the_last_update_is_validated(tmp_path, corpus, vocabulary, monkeypatch):
    score_by_update(monkeypatch, {3: 10.0, 4: 20.0})
    config = replace(CONFIG, updates=4, validate_every=3, smoothing=0.0)
    network, result = run(corpus, vocabulary, tmp_path / "both", config)
    assert [row["update"] for row in result.history] == [3, 4]
    at_the_end = replace(config, validate_every=4)
    expected, _ = run(corpus, vocabulary, tmp_path / "once", at_the_end)
    assert tensors_hash(network.state_dict()) == tensors_hash(expected.state_dict())


def test_a_training_too_short_to_be_validated_keeps_its_last_weights(tmp_path, corpus, vocabulary):
    config = replace(CONFIG, updates=2, validate_every=3, smoothing=0.0)
    network, result = run(corpus, vocabulary, tmp_path / "best", config)
    expected, _ = run(corpus, vocabulary, tmp_path / "last", config, keep="last")
    assert result.history == []
    assert tensors_hash(network.state_dict()) == tensors_hash(expected.state_dict())


class Interrupted(Exception):
    """Error that ends a training as a kill does."""


def continued(*given, **options):
    """Run a training again after each interruption, until it ends."""
    while True:
        with suppress(Interrupted):
            return run(*given, **options)


@EVERY
@pytest.mark.parametrize("checkpoint_every", [2, 3])  # 3: only after the last update
def test_interrupted_around_every_validation_and_checkpoint_it_ends_the_same(
    tmp_path, corpus, vocabulary, monkeypatch, checkpoint_every, hardware
):
    config = replace(CONFIG, updates=3, validate_every=2, checkpoint_every=checkpoint_every)
    given = {"config": config, "hardware": hardware}
    expected, undisturbed = run(corpus, vocabulary, tmp_path / "undisturbed", **given)
    assert [row["update"] for row in undisturbed.history] == [2, 3]
    passed = set()

    def interrupt(hook):
        def hook_between_two_interruptions(self, trainer, *arguments):
            for moment in ("before", "after"):
                if moment == "after":
                    hook(self, trainer, *arguments)
                place = (moment, type(self).__name__, trainer.global_step)
                if place not in passed:
                    passed.add(place)
                    raise Interrupted

        return hook_between_two_interruptions

    for callback in (GreedyValidation, Checkpoints):
        hook = interrupt(callback.on_train_batch_end)
        monkeypatch.setattr(callback, "on_train_batch_end", hook)
    network, resumed = continued(corpus, vocabulary, tmp_path / "interrupted", **given)
    assert len(passed) == 2 * 2 * 3
    assert tensors_hash(network.state_dict()) == tensors_hash(expected.state_dict())
    assert resumed == undisturbed


@EVERY
@pytest.mark.parametrize("checkpoint_every", [1, 2, 3])
def test_killed_before_patience_ends_it_ends_the_same(
    tmp_path, corpus, vocabulary, monkeypatch, checkpoint_every, hardware
):
    score_by_update(monkeypatch, {2: 5.0, 4: 9.0, 6: 3.0, 8: 4.0, 10: 9.9})
    config = replace(CONFIG, validate_every=2, checkpoint_every=checkpoint_every, patience=2)
    given = {"config": config, "rising": False, "hardware": hardware}
    expected, undisturbed = run(corpus, vocabulary, tmp_path / "undisturbed", **given)
    assert [row["update"] for row in undisturbed.history] == [2, 4, 6, 8]
    step, left = TranslationTask.training_step, [*range(1, 10)]

    def interrupted(self, *arguments):
        if left and self.global_step == left[0]:
            left.pop(0)
            raise Interrupted
        return step(self, *arguments)

    monkeypatch.setattr(TranslationTask, "training_step", interrupted)
    network, resumed = continued(corpus, vocabulary, tmp_path / "interrupted", **given)
    assert len(left) < 3
    assert tensors_hash(network.state_dict()) == tensors_hash(expected.state_dict())
    assert resumed == undisturbed


@pytest.fixture
def waits(monkeypatch):
    """Let trainings on a GPU wait for their validations, as those on the CPU do."""
    monkeypatch.setattr(validation, "_ValidationThread", lambda: None)


@pytest.mark.parametrize("checkpoint_every", [2, 3, 50])
@pytest.mark.parametrize(
    "hardware", [BESIDE, pytest.param(Hardware(accelerator="gpu"), marks=pytest.mark.gpu)]
)
def test_validated_beside_the_training_it_ends_in_the_same_weights(
    tmp_path, corpus, vocabulary, request, hardware, checkpoint_every
):
    config = replace(CONFIG, updates=9, validate_every=2, checkpoint_every=checkpoint_every)
    found, others = run(corpus, vocabulary, tmp_path / "beside", config, hardware=hardware)
    request.getfixturevalue("waits")
    wanted, course = run(corpus, vocabulary, tmp_path / "waits", config, hardware=hardware)
    assert tensors_hash(found.state_dict()) == tensors_hash(wanted.state_dict())
    assert others == course and [row["update"] for row in course.history] == [2, 4, 6, 8, 9]


def test_a_training_goes_on_while_it_is_validated(tmp_path, corpus, vocabulary, monkeypatch):
    """It records no graph meanwhile: CUDA allows no other work then, in any thread."""
    going_on, step, call = threading.Event(), TranslationTask.training_step, RecordedPasses.__call__
    may_record = []

    def training_step(self, *given):
        if self.global_step == 3:
            going_on.set()
        return step(self, *given)

    def called(self, batch, records):
        may_record.append(records)
        return call(self, batch, records)

    def bleu(self, network, update):
        assert update != 2 or going_on.wait(60)
        return 1.0

    monkeypatch.setattr(TranslationTask, "training_step", training_step)
    monkeypatch.setattr(RecordedPasses, "__call__", called)
    monkeypatch.setattr(GreedyValidation, "_bleu", bleu)
    config = replace(CONFIG, updates=4, validate_every=2, checkpoint_every=2)
    _, result = run(corpus, vocabulary, tmp_path, config, rising=False, hardware=BESIDE)
    assert [row["update"] for row in result.history] == [2, 4]
    assert may_record == [True, True, False, *may_record[3:]]


def test_an_error_of_a_validation_beside_a_training_ends_it(
    tmp_path, corpus, vocabulary, monkeypatch
):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(GreedyValidation, "_bleu", fail)
    config = replace(CONFIG, updates=4, validate_every=2)
    with pytest.raises(OSError, match="disk full"):
        run(corpus, vocabulary, tmp_path, config, rising=False, hardware=BESIDE)
    assert not any(one.name.startswith("validation") for one in threading.enumerate())


def test_a_search_beside_a_training_records_no_graph():
    card = torch.device("cuda")
    with graphs.unrecorded(torch.device("cpu")):
        assert isinstance(graphs.recorder_on(card), graphs.PlainRecorder)
    assert isinstance(graphs.recorder_on(torch.device("cpu")), graphs.PlainRecorder)
