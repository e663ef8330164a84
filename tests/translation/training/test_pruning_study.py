"""Late resetting of a real, tiny student: interrupted runs equal undisturbed ones, also on two devices."""

import random
from dataclasses import replace
from types import SimpleNamespace

import pyarrow as pa
import pytest
import torch

from tests.changed_library import changed_library
from tests.forking import run_in_fork
from tests.pruning.interrupting import finish_despite_interruptions
from weebill.corpus.table import read_columns, write_table
from weebill.errors import InputError
from weebill.files import content_hash, read_json
from weebill.pruning.cut import cut
from weebill.pruning.from_scratch import FromScratch
from weebill.pruning.late_reset import LateReset
from weebill.translation.model.folder import load_model
from weebill.translation.model.network import START
from weebill.translation.model.vocabulary import train_vocabulary
from weebill.translation.training import pruning_study
from weebill.translation.training.pruning_study import TranslationStudy, make_pruned
from weebill.translation.training.settings import Hardware, TrainingConfig
from weebill.translation.training.trainer import make_model, new_network, unwatched
from weebill.workflow import code_version

ENTRY = {
    "embedding": 16,
    "feed_forward": 24,
    "heads": 4,
    "attention_width": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "decoder_tied": True,
    "decoder": "ssru",
}
CONFIG = TrainingConfig(
    batch_tokens=400,
    updates=14,
    learning_rate=0.01,
    warmup=5,
    validate_every=4,
    checkpoint_every=2,
    dropout=0.1,
)
SCHEDULE = LateReset(heads_per_iteration=3, iterations=2, reset_to=4, iteration_updates=5)


def pairs(count, seed):
    """Return sentences of made-up words; the translation reverses the letters of each word."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefgh", k=4)) for _ in range(40)]
    sources = [" ".join(draw.choices(words, k=draw.randint(2, 8))) for _ in range(count)]
    targets = [" ".join(word[::-1] for word in source.split()) for source in sources]
    rows = {"source": sources, "target": targets, "corpus": ["made"] * count}
    dropped = pa.array([None] * count, pa.string())
    return pa.table({**rows, "row": range(count), "dropped_by": dropped})


def study_of(folder, devices=1):
    """Return the study of the student in `folder`; make its checkpoint if it does not exist."""
    hardware = Hardware(devices=devices)
    files = [folder / "corpus.parquet"], folder / "validation.parquet"
    if not (folder / "checkpoint").exists():
        vocabulary = folder / "vocab.spm"
        write_table(files[0][0], pairs(300, 1))
        write_table(files[1], pairs(20, 1))
        texts = pairs(300, 1).to_pydict()
        train_vocabulary([*texts["source"], *texts["target"]], vocabulary, size=60, seed=1)
        config = unwatched(CONFIG, 4)
        data = folder / "checkpoint", "reset-checkpoint", ENTRY, [vocabulary], *files
        make_model(*data, config, seed=5, keep="last")
    return TranslationStudy(folder / "checkpoint", *files, CONFIG, 5, hardware)


def studies_of_one_training(folder, **settings):
    """Return the study on two devices, and on one device that accumulates two batches."""
    for devices, accumulate in [(2, 1), (1, 2)]:
        study = study_of(folder, devices)
        config = {"dropout": 0.0, "smoothing": 0.0, "accumulate": accumulate, **settings}
        yield replace(study, config=replace(CONFIG, **config))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    study_of(folder)
    return folder


@pytest.fixture(scope="module")
def undisturbed(data):
    output = data / "undisturbed"
    make_pruned(output, data / "undisturbed.json", "steady", SCHEDULE, study_of(data))
    return output


def test_the_folder_holds_a_smaller_student_of_the_same_start(data, undisturbed):
    model, start = load_model(undisturbed), load_model(data / "checkpoint")
    heads = read_json(data / "undisturbed.json")
    left = [len(heads["survivors"]["heads"][f"encoder.{i}.self_attention"]) for i in range(2)]
    assert [layer.heads for layer in model.network.architecture.encoder] == left
    assert sum(left) == 8 - 6
    assert model.network.architecture.decoder == start.network.architecture.decoder
    assert model.config["lineage"]["pruning"]["recipe"] == "steady"
    assert model.config["lineage"]["course"]["updates"] == 14 - 4
    assert not undisturbed.with_name("undisturbed.work").exists()


def test_interrupted_at_every_checkpoint_it_ends_the_same(data, undisturbed, monkeypatch):
    output = data / "interrupted"

    def make():
        make_pruned(output, data / "interrupted.json", "steady", SCHEDULE, study_of(data))

    assert finish_despite_interruptions(output, make, monkeypatch) == 2 * 2 + 5
    assert content_hash(output) == content_hash(undisturbed)
    assert read_json(data / "interrupted.json") == read_json(data / "undisturbed.json")


@pytest.mark.workflows
def test_two_devices_train_as_one_that_accumulates_two_batches(data, tmp_path, monkeypatch):
    """The first device's training is a fork; Lightning starts Python for the second."""
    monkeypatch.setattr(pruning_study, "subprocess", SimpleNamespace(run=run_in_fork))
    trained = []
    for study in studies_of_one_training(data):
        network = study.checkpoint(4)
        cut(network, {"encoder.0.self_attention": range(4), "encoder.1.self_attention": [2]})
        study.train(network, start_update=4, updates=2, work=tmp_path / str(len(trained)))
        trained.append(network.state_dict())
    torch.testing.assert_close(*trained, rtol=0, atol=1e-4)


def test_a_study_of_other_text_hardware_or_code_is_another(data, tmp_path, monkeypatch):
    study = study_of(data)
    assert study.identity() == study_of(data).identity() != study_of(data, devices=2).identity()
    before = study.identity()
    # Weights of a published student do not reveal the text, so the identity must contain it.
    other = replace(study, corpora=[*study.corpora, study.validation])
    assert other.identity() != before
    other_code = changed_library(tmp_path, "translation/training/task.py")
    monkeypatch.setattr(code_version, "ROOT", other_code)
    assert study.identity() != before


def test_settings_that_leave_no_training_are_refused(data, tmp_path):
    study = replace(study_of(data), config=replace(CONFIG, updates=4))
    with pytest.raises(InputError, match="reset_to 4 leaves nothing of 4 updates"):
        make_pruned(tmp_path / "a", tmp_path / "a.json", "steady", SCHEDULE, study)
    other = replace(SCHEDULE, reset_to=5)
    with pytest.raises(InputError, match="made by 4 updates, not 5"):
        make_pruned(tmp_path / "b", tmp_path / "b.json", "steady", other, study_of(data))


def test_gradients_are_those_of_the_validation_loss_of_each_batch(data):
    study = study_of(data)
    network = study.checkpoint(4)
    pairs = pairs_of_validation(data)
    vocabulary = load_model(data / "checkpoint").vocabulary
    encoded = sorted(
        zip(*map(vocabulary.encode, pairs), strict=True), key=lambda pair: len(pair[1])
    )
    [_] = study.gradients(network)  # 20 sentences are one batch
    assert network.embedding.weight.grad is None
    for _ in study.gradients(network):
        found = network.embedding.weight.grad.clone()
    network.eval()
    losses = []
    for source, target in encoded:
        source, target = torch.tensor([source]), torch.tensor([target])
        shifted = torch.cat([torch.tensor([[START]]), target[:, :-1]], dim=1)
        mask = torch.ones_like(source, dtype=torch.bool)
        scores = network.logits(network.decode(shifted, network.encode(source, mask), mask))
        losses.append(torch.nn.functional.cross_entropy(scores[0], target[0], reduction="none"))
    torch.cat(losses).mean().backward()
    torch.testing.assert_close(found, network.embedding.weight.grad, rtol=1e-4, atol=1e-6)


def pairs_of_validation(folder):
    columns = read_columns(folder / "validation.parquet", ["source", "target"]).to_pydict()
    return columns["source"], columns["target"]


def test_from_scratch_has_the_shape_of_its_start_and_the_first_weights_of_the_seed(
    data, undisturbed
):
    study = replace(study_of(data), start=undisturbed)
    architecture = load_model(undisturbed).network.architecture
    expected = new_network(architecture, seed=5, dropout=CONFIG.dropout).state_dict()
    found = study.untrained().state_dict()
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    make_pruned(data / "scratch", data / "scratch.json", "scratch", FromScratch("steady"), study)
    scratch = load_model(data / "scratch")
    assert scratch.network.architecture == architecture
    assert scratch.config["lineage"]["course"]["updates"] == CONFIG.updates
