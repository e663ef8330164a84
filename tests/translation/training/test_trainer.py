"""Training learns and resumes exactly after SIGKILL, and its parts follow their formulas."""

import logging
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.changed_library import changed_library
from tests.forking import fork
from tests.translation.conftest import sentence_pairs, small_architecture
from tests.translation.training.small_training import CONFIG, run
from weebill.errors import InputError
from weebill.translation.model.batch import make_batch
from weebill.translation.search import greedy_translations
from weebill.translation.training import encoding
from weebill.translation.training.loss import batch_loss
from weebill.translation.training.task import TranslationTask
from weebill.translation.training.trainer import (
    Hardware,
    new_network,
    tensors_hash,
    train,
)
from weebill.workflow import code_version
from weebill.workflow.job import job


def test_learns_a_small_grammar(tmp_path, corpus, vocabulary):
    config = replace(CONFIG, batch_tokens=600, learning_rate=0.02, dropout=0.0, smoothing=0.1)
    config = replace(config, updates=140, validate_every=70)
    network, result = run(corpus, vocabulary, tmp_path, config, rising=False)
    sources, targets = zip(*sentence_pairs(), strict=True)
    assert list(targets) == greedy_translations(network, vocabulary, list(sources))
    assert result.updates == 140
    assert result.best["bleu"] == pytest.approx(100.0)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, corpus, vocabulary):
    network, result = run(corpus, vocabulary, tmp_path_factory.mktemp("undisturbed"))
    return tensors_hash(network.state_dict()), result


SHORT = replace(CONFIG, updates=4, validate_every=2, checkpoint_every=2)


@pytest.fixture(scope="module")
def short(tmp_path_factory, corpus, vocabulary):
    network, result = run(corpus, vocabulary, tmp_path_factory.mktemp("short"), SHORT)
    return tensors_hash(network.state_dict()), result


def job_of_a_run(corpus, vocabulary, work, log):
    os.setsid()
    with job(log):
        run(corpus, vocabulary, work)


@pytest.mark.parametrize(
    ("killed_by", "code"),
    [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 128 + signal.SIGTERM)],
)
def test_killed_anywhere_it_ends_in_the_same_weights(
    tmp_path, corpus, vocabulary, undisturbed, killed_by, code
):
    work = tmp_path / "killed"
    process = fork(job_of_a_run, corpus, vocabulary, work, tmp_path / "log")
    deadline = time.monotonic() + 60
    while not list(work.glob("checkpoints/*.ckpt")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, killed_by)
    process.join()
    assert process.exitcode == code
    assert not (work / "checkpoints/28.ckpt").exists(), "killed too late to prove anything"
    network, resumed = run(corpus, vocabulary, work)
    assert (tensors_hash(network.state_dict()), resumed) == undisturbed


@pytest.mark.parametrize("checkpoint_every", [2, 4])
def test_a_finished_training_run_again_changes_nothing(
    tmp_path, corpus, vocabulary, short, checkpoint_every
):
    for _ in range(2):
        config = replace(SHORT, checkpoint_every=checkpoint_every)
        network, result = run(corpus, vocabulary, tmp_path, config)
        assert (tensors_hash(network.state_dict()), result) == short


def test_other_settings_start_anew(tmp_path, corpus, vocabulary):
    other = replace(CONFIG, learning_rate=0.001, updates=6)
    run(corpus, vocabulary, tmp_path / "work", replace(CONFIG, updates=5))
    reused, _ = run(corpus, vocabulary, tmp_path / "work", other)
    fresh, _ = run(corpus, vocabulary, tmp_path / "fresh", other)
    assert tensors_hash(reused.state_dict()) == tensors_hash(fresh.state_dict())


@pytest.mark.parametrize("other", ["code", "torch", "hardware"])
def test_what_other_software_or_hardware_began_is_not_continued(
    tmp_path, corpus, vocabulary, short, monkeypatch, caplog, other
):
    """A training with another learning rate stands for all trainings with other arithmetic."""
    hardware = Hardware()
    with monkeypatch.context() as change:
        rate = TranslationTask.rate
        change.setattr(TranslationTask, "rate", lambda self, update: 2 * rate(self, update))
        if other == "code":
            other_code = changed_library(tmp_path, "translation/training/task.py")
            change.setattr(code_version, "ROOT", other_code)
        elif other == "torch":
            change.setattr(torch, "__version__", f"{torch.__version__}.1")
        else:
            hardware = Hardware(threads=2)
            change.setattr(torch, "set_num_threads", lambda count: None)  # two wait for each other
        run(corpus, vocabulary, tmp_path / "work", SHORT, hardware=hardware)
    with caplog.at_level(logging.INFO):
        network, result = run(corpus, vocabulary, tmp_path / "work", SHORT)
    assert (tensors_hash(network.state_dict()), result) == short
    assert f"work: begun with other {other}; starting over" in caplog.text
    assert caplog.text.count("starting over") == 1


def test_trainings_share_an_encoded_corpus(tmp_path, corpus, vocabulary, short, monkeypatch):
    encode, made = encoding._encode, []
    monkeypatch.setattr(encoding, "_encode", lambda *args: made.append(args) or encode(*args))
    for name in ("one", "two"):
        work, encoded = tmp_path / name, tmp_path / "encoded"
        network, result = run(corpus, vocabulary, work, SHORT, encoded=encoded)
        assert (tensors_hash(network.state_dict()), result) == short
        assert not (work / "encoded").exists()
    assert len(made) == 1


def test_accumulation_is_one_larger_batch(corpus, vocabulary):
    """Gradients of two batches, divided by the words of both, equal the gradients of one joint batch."""
    sources, targets = zip(*sentence_pairs()[:8], strict=True)
    ids = vocabulary.encode(list(sources)), vocabulary.encode(list(targets))
    weights = torch.rand(8).tolist()
    network = new_network(small_architecture(len(vocabulary)), seed=1)
    whole = make_batch(*ids, weights)
    batch_loss(network, whole, whole.words).backward()
    expected = [p.grad.clone() for p in network.parameters()]
    network.zero_grad()
    for part in (slice(0, 3), slice(3, 8)):
        batch = make_batch(ids[0][part], ids[1][part], weights[part])
        batch_loss(network, batch, whole.words).backward()
    for parameter, gradient in zip(network.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-6)


def test_a_loss_that_is_no_number_stops_the_training(tmp_path, corpus, vocabulary):
    wild = replace(CONFIG, learning_rate=1e30, warmup=1)
    with pytest.raises(InputError, match=r"the loss is (inf|nan) in update \d; lower the learning"):
        run(corpus, vocabulary, tmp_path, wild)


def test_last_weights_can_be_asked_for(tmp_path, corpus, vocabulary, short):
    last, _ = run(corpus, vocabulary, tmp_path, SHORT, keep="last")
    assert tensors_hash(last.state_dict()) != short[0]  # those of the best validation are smoothed


def test_a_vocabulary_of_another_size_is_refused(tmp_path, corpus, vocabulary):
    network = new_network(small_architecture(40), seed=1)
    with pytest.raises(InputError, match="50 pieces, but the network has 40"):
        train(network, [corpus], corpus, vocabulary, CONFIG, seed=1, work=Path(tmp_path))
