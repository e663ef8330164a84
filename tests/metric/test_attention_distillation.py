"""An encoder that learns a larger one's attention: its loss, its training, and accepted teachers."""

import shutil
from dataclasses import replace

import pytest
import torch
from transformers import XLMRobertaConfig, XLMRobertaModel

from tests.hugging_face.small import small_model
from tests.metric.small import REFERENCES, SOURCES
from weebill.errors import InputError
from weebill.files import content_hash, read_json, write_json
from weebill.metric import pretraining
from weebill.metric.attention_distillation import attention_loss, attention_mask, load_teacher
from weebill.metric.pretraining import pretrain
from weebill.metric.settings import AttentionDistillationSettings, PretrainingSettings
from weebill.metric.tokenizer import make_tokenizer

TEXTS = [*SOURCES, *REFERENCES]
TEACHER = PretrainingSettings(
    layers=3, heads=2, width=16, intermediate=24, positions=40, updates=4, batch_pieces=90, warmup=1
)
STUDENT = AttentionDistillationSettings(
    teacher="large",
    layers=1,
    heads=2,
    width=8,
    intermediate=12,
    positions=40,
    dropout=0.0,
    updates=40,
    batch_pieces=200,
    learning_rate=1e-2,
    warmup=4,
    checkpoint_every=10,
)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    folder = tmp_path_factory.mktemp("teacher")
    make_tokenizer(folder / "tokenizer", TEXTS * 3, 120)
    pretrain(TEACHER, TEXTS, folder / "tokenizer", folder / "large", seed=1)
    return folder / "large"


def encoder(layers, width, seed):
    torch.manual_seed(seed)
    config = XLMRobertaConfig(
        vocab_size=50,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=24,
        initializer_range=0.5,
        attn_implementation="eager",  # the only kind that returns attention
    )
    return XLMRobertaModel(config, add_pooling_layer=False).eval()


@torch.no_grad()
def divergence_of_sentence(teacher, student, pieces):
    """Return the mean of both divergences, from the library's output for one sentence without padding."""
    sums = []
    for model in (teacher, student):
        found = model(pieces, output_attentions=True, output_hidden_states=True)
        value = model.encoder.layer[-1].attention.self.value(found.hidden_states[-2])[0]
        size = value.shape[1] // 2
        relations = [
            torch.softmax(head @ head.T / size**0.5, 1) for head in value.split(size, dim=1)
        ]
        sums.append((found.attentions[-1][0], torch.stack(relations)))
    return sum(
        float((one * (one.log() - other.log())).sum()) / (2 * pieces.shape[1])
        for one, other in zip(*sums, strict=True)
    )


def test_the_loss_is_the_divergence_of_attention_and_of_value_relations():
    large, small = encoder(3, 16, 1), encoder(1, 8, 2)
    sentences = [torch.tensor([[0, 7, 8, 9, 2]]), torch.tensor([[0, 11, 2]])]
    alone = [divergence_of_sentence(large, small, one) for one in sentences]
    assert min(alone) > 0.01
    batch = torch.tensor([[0, 7, 8, 9, 2], [0, 11, 2, 1, 1]])
    with torch.no_grad():
        found, none = (attention_loss(one, large, batch, batch != 1) for one in (small, large))
    wanted = (5 * alone[0] + 3 * alone[1]) / 8  # all pieces have equal weights
    assert float(found) == pytest.approx(wanted, rel=1e-4)
    assert float(none) == pytest.approx(0, abs=1e-6)
    assert attention_mask(batch != 1).shape == (2, 5)


def test_a_student_learns_its_teachers_attention_and_resumes(teacher, tmp_path, monkeypatch):
    pretrain(STUDENT, TEXTS, teacher, tmp_path / "whole", seed=1)
    record = read_json(tmp_path / "whole/pretraining.json")
    assert record["teacher"] == content_hash(teacher)
    assert record["losses"][-1] < 0.7 * record["losses"][0]
    config = read_json(tmp_path / "whole/config.json")
    assert (config["num_hidden_layers"], config["hidden_size"]) == (1, 8)
    asked = []

    def failing(*arguments):
        asked.append(arguments)
        if len(asked) == 25:
            raise KeyboardInterrupt
        return attention_loss(*arguments)

    monkeypatch.setattr(pretraining, "attention_loss", failing)
    with pytest.raises(KeyboardInterrupt):
        pretrain(STUDENT, TEXTS, teacher, tmp_path / "killed", seed=1)
    monkeypatch.setattr(pretraining, "attention_loss", attention_loss)
    pretrain(STUDENT, TEXTS, teacher, tmp_path / "killed", seed=1)
    assert content_hash(tmp_path / "killed") == content_hash(tmp_path / "whole")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": 4}, r"it has 2 heads, its student 4; write `heads: 2`"),
        ({"positions": 41}, r"it has 40 positions, its student 41; write `positions: 40`"),
    ],
)
def test_a_teacher_that_does_not_fit_is_refused(teacher, tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        pretrain(replace(STUDENT, **change), TEXTS, teacher, tmp_path / "out", seed=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("family", ["gpt2", "t5", "bart"])
def test_a_teacher_of_another_kind_is_refused(family, tmp_path):
    small_model(family).save_pretrained(tmp_path)
    with pytest.raises(InputError, match=r"no encoder like XLM-R or BERT \(.*\); name one$"):
        load_teacher(tmp_path, STUDENT)


def test_a_damaged_teacher_is_refused(teacher, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(teacher, folder)
    values = read_json(folder / "config.json")
    write_json(folder / "config.json", {**values, "hidden_act": "none"})
    with pytest.raises(InputError, match=r"copy: no encoder like XLM-R or BERT \(.*none"):
        load_teacher(folder, STUDENT)
