"""Trainings within steps: resuming after a kill, gradients, validations, and refused settings."""

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.generation.small import FAST, STEPS, place
from weebill.errors import InputError
from weebill.files import read_json
from weebill.generation import step, training
from weebill.generation.data import read_part
from weebill.generation.encoding import Batches
from weebill.generation.models import load_generator
from weebill.generation.settings import Device, LowRankSettings, TrainingSettings
from weebill.generation.steps import FineTune
from weebill.kernels.loss_faults import LossFaults


def files(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("**/*.*")
    }


LOW_RANK = FineTune(training=FAST, low_rank=LowRankSettings(rank=2))
KILLED = {
    name: replace(step, training=replace(FAST, updates=4))
    for name, step in {**STEPS, "low-rank": LOW_RANK}.items()
}


@pytest.mark.parametrize("name", list(KILLED))
def test_a_killed_run_resumes_to_the_same_files(made, tmp_path, monkeypatch, name):
    whole, killed = (place(made, tmp_path / part) for part in ("whole", "killed"))
    KILLED[name].run(whole)
    calls = 0
    plain = training._Trainer.compute_loss

    def failing(self, *arguments, **keywords):
        nonlocal calls
        calls += 1
        if calls == 6:  # in update 3, after the checkpoint of update 2
            raise KeyboardInterrupt
        return plain(self, *arguments, **keywords)

    monkeypatch.setattr(training._Trainer, "compute_loss", failing)
    with pytest.raises(KeyboardInterrupt):
        KILLED[name].run(killed)
    assert not killed.output.exists()
    half = killed.work / "checkpoint-3"  # left by a kill in the middle of writing
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"half")
    calls = 100
    KILLED[name].run(killed)
    assert calls == 104  # updates 3 and 4, two batches each
    assert files(whole.output.parent) == files(killed.output.parent)
    assert not killed.work.exists()


def test_unfinished_work_of_other_settings_is_not_continued(made, tmp_path):
    where, other = place(made, tmp_path / "a"), place(made, tmp_path / "b")
    short = replace(FAST, updates=2)
    FineTune(training=short).run(other)
    where.work.mkdir()
    (where.work / "begun_by.json").write_text(json.dumps({"step": "FineTune"}))
    FineTune(training=short).run(where)
    assert files(where.output) == files(other.output)


@pytest.mark.parametrize("changed", ["config.json", "tokenizer.json", "code"])
def test_unfinished_work_of_another_model_or_code_is_not_continued(
    made, tmp_path, monkeypatch, changed
):
    begun = []

    def claim(work, name, by):
        begun.append(by)
        raise KeyboardInterrupt

    def begin(part):
        with pytest.raises(KeyboardInterrupt):
            FineTune(training=FAST).run(place(made, tmp_path / part, model=folder))

    monkeypatch.setattr(training, "claim_folder", claim)
    folder = tmp_path / "model"
    shutil.copytree(place(made, tmp_path / "a").model, folder)
    begin("a")
    if changed == "code":
        monkeypatch.setattr(step, "code_of_module", lambda *modules: "other")
    else:
        values = read_json(folder / changed)
        (folder / changed).write_text(json.dumps(values, indent=4))
    begin("b")
    assert begun[0] != begun[1]


def test_weights_of_fewer_bits_are_trained_in_float32(made, tmp_path):
    half = place(made, tmp_path / "a")
    found = load_generator(half.model)
    found.model.bfloat16().save_pretrained(tmp_path / "half")
    found.tokenizer.save_pretrained(tmp_path / "half")
    where = place(made, tmp_path / "b", model=tmp_path / "half")
    FineTune(training=replace(FAST, updates=2, learning_rate=1e-5)).run(where)
    tensors = load_file(where.output / "model.safetensors")
    assert {value.dtype for value in tensors.values()} == {torch.float32}
    moved = [not value.equal(value.bfloat16().float()) for value in tensors.values()]
    assert sum(moved) > len(moved) / 2


def test_an_updates_gradient_is_that_of_all_its_tokens(made, tmp_path, monkeypatch):
    """Without dropout, the loss is the mean over all batches' labels, even if their numbers of labels differ."""
    where = place(made, tmp_path)
    generator = load_generator(where.model)
    for module in generator.model.modules():
        if hasattr(module, "dropout"):
            module.dropout = 0.0
    found = []

    def keep(optimizer, *_, **__):
        found.extend(p.grad.clone() for group in optimizer.param_groups for p in group["params"])

    monkeypatch.setattr(torch.optim.AdamW, "step", keep)
    settings = TrainingSettings(
        updates=1, batch_size=4, accumulate=3, warmup=0, clip_norm=0.0, keep="last"
    )
    encoder = where.encoder(generator)
    batches = Batches(encoder, encoder.examples(read_part(where.data, "train")), settings, 1)
    training.train(
        generator.model,
        batches,
        [encoder.batch(batches.examples[:2])],
        work=where.work,
        identity={"step": "test"},
        device=Device(),
    )
    model = generator.model.train()
    chosen = [batches.examples[index] for number in range(3) for index in batches.round(0)[number]]
    model.zero_grad()
    training.likelihood(model, encoder.batch(chosen)).backward()
    parameters = sorted(model.parameters(), key=lambda p: p.dim() == 1)
    assert len(found) == len(parameters)
    for ours, theirs in zip(found, parameters, strict=True):
        assert torch.allclose(ours, theirs.grad, atol=1e-6)


def test_a_training_is_of_one_gpu_though_it_sees_several(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for accelerator, count in (("gpu", 1), ("cpu", 0)):
        found = training._arguments(FAST, 6, 1, tmp_path, Device(accelerator))
        assert (found.n_gpu, found.train_batch_size) == (count, 1)


def test_the_last_update_is_validated_wherever_it_falls(made, tmp_path):
    where = place(made, tmp_path)
    FineTune(training=replace(FAST, updates=5, validate_every=3)).run(where)
    course = read_json(where.output / "config.json")["lineage"]["course"]
    assert [entry["update"] for entry in course["validations"]] == [3, 5]
    best = min(course["validations"], key=lambda entry: entry["loss"])
    assert course["kept"] == best["update"]


def test_a_loss_that_is_no_number_stops_the_training(made, tmp_path):
    wild = replace(FAST, learning_rate=1e30, clip_norm=0.0, warmup=1)
    with pytest.raises(InputError, match="the loss is nan in update"):
        FineTune(training=wild).run(place(made, tmp_path))


def test_a_gpu_is_asked_for_faults_only_when_losses_are_logged(monkeypatch):
    faults = LossFaults(torch.device("cpu"))
    faults._at_once = False  # as on a GPU
    for update, loss in enumerate((1.0, float("inf"), float("nan")), start=1):
        faults.add(torch.tensor(loss), update)
    with pytest.raises(InputError, match="the loss is inf in update 2; lower"):
        faults.check()


def test_epochs_that_end_early_in_the_warmup_are_refused(made, tmp_path, caplog):
    """The error comes before any output; epochs that end late in the warmup, as the paper's, only give a warning."""
    where = place(made, tmp_path)
    examples = len(read_part(where.data, "train"))
    short = TrainingSettings(epochs=1, batch_size=examples, accumulate=1, warmup=11)
    with pytest.raises(InputError, match=r"warmup 11 of 1 updates: .* ends at 9\.1% of its peak"):
        FineTune(training=short).run(where)
    assert not where.work.exists() and not where.output.exists()
    FineTune(training=replace(short, warmup=2)).run(where)
    assert "warmup 2 of 1 updates: the learning rate ends at 50.0% of its peak" in caplog.text
