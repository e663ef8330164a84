"""Checkpoint files are whole, the newest is kept, and a thread writes the numbers of its update."""

import threading
from dataclasses import replace

import pytest
import torch

from tests.translation.training.small_training import CONFIG, run
from weebill.translation.training import parts
from weebill.translation.training.checkpoints import CheckpointFiles, checkpoint_files, copied
from weebill.translation.training.trainer import tensors_hash


@pytest.mark.parametrize("aside", [False, True])
def test_the_newest_checkpoint_is_kept_with_the_numbers_of_its_moment(tmp_path, aside):
    files, weights = CheckpointFiles(aside), torch.zeros(3)
    for update in (5, 10, 15):
        weights.fill_(update)
        files.save_checkpoint({"weights": weights, "update": update}, tmp_path / f"{update}.ckpt")
        weights.fill_(-1)  # training goes on
    files.teardown()
    assert [path.name for path in tmp_path.iterdir()] == ["15.ckpt"]
    found = files.load_checkpoint(tmp_path / "15.ckpt", weights_only=True)
    assert (found["update"], found["weights"].tolist()) == (15, [15.0] * 3)


def test_a_copy_shares_what_was_shared_and_nothing_with_the_training():
    weight = torch.arange(6.0).view(2, 3)
    empty = [torch.empty(0), torch.empty(0, dtype=torch.int64)]
    found = copied({"a": weight, "b": [weight.detach()], "c": weight.t(), "d": empty, "n": 3})
    assert found["a"].data_ptr() == found["b"][0].data_ptr() != weight.data_ptr()
    assert torch.equal(found["c"], weight.t())
    assert [value.dtype for value in found["d"]] == [torch.float32, torch.int64]
    assert found["n"] == 3


def test_a_training_waits_for_the_thread_and_is_told_its_error(tmp_path, monkeypatch):
    files, allowed = CheckpointFiles(aside=True), threading.Event()

    def write(self, checkpoint, path):
        assert allowed.wait(10)
        raise OSError("no space left on device")

    monkeypatch.setattr(CheckpointFiles, "_write", write)
    files.save_checkpoint({}, tmp_path / "5.ckpt")  # returns at once
    allowed.set()
    with pytest.raises(OSError, match="no space left"):
        files.save_checkpoint({}, tmp_path / "10.ckpt")
    files.teardown()


def test_a_training_continues_from_what_the_thread_wrote(tmp_path, corpus, vocabulary, monkeypatch):
    """A finished training whose last checkpoint is an update old repeats this update."""
    config = replace(CONFIG, updates=7, validate_every=7, checkpoint_every=2)
    expected, _ = run(corpus, vocabulary, tmp_path / "plain", config)
    monkeypatch.setattr(parts, "CheckpointFiles", lambda aside: CheckpointFiles(aside=True))
    for _ in range(2):
        network, _ = run(corpus, vocabulary, tmp_path / "aside", config)
        assert tensors_hash(network.state_dict()) == tensors_hash(expected.state_dict())
    kept = checkpoint_files(tmp_path / "aside" / "checkpoints")
    assert [path.stem for path in kept] == ["6"]


@pytest.mark.gpu
def test_numbers_of_a_card_are_copied_before_they_change(tmp_path):
    files = CheckpointFiles(aside=True)
    weights = torch.randn(1000, 1000, device="cuda")
    expected = weights.cpu()
    files.save_checkpoint(
        {"weights": weights, "step": torch.ones((), device="cuda")}, tmp_path / "5.ckpt"
    )
    weights.zero_()
    files.teardown()
    found = torch.load(tmp_path / "5.ckpt", weights_only=True)
    assert found["weights"].device.type == found["step"].device.type == "cpu"
    assert torch.equal(found["weights"], expected)
