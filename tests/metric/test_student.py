"""Students start from some of their teacher's layers and learn its scores."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder
from weebill.errors import InputError
from weebill.metric.folder import load_metric
from weebill.metric.scorer import Scorer
from weebill.metric.student import StudentSettings, distil, first_student

ROWS = [
    (mt, src, ref)
    for lines in (*SYSTEMS.values(), REFERENCES[::-1], SOURCES, ["Ja.", *REFERENCES[:5]])
    for mt, src, ref in zip(lines, SOURCES, REFERENCES, strict=True)
] * 6
COLUMNS = [list(column) for column in zip(*ROWS, strict=True)]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"class_identifier": "xcomet_metric", "encoder_model": "XLM-RoBERTa-XL", "word_layer": 2},
    ],
    ids=["regression", "xcomet"],
)
def test_a_student_comes_nearer(tmp_path, values):
    encoder = make_encoder(tmp_path / "encoder", values.get("encoder_model", "XLM-RoBERTa"))
    teacher = load_metric(make_checkpoint(tmp_path / "model", encoder, **values))
    mt, src, ref = COLUMNS
    wanted = Scorer(teacher).score({"": mt}, src, ref)[""]
    settings = StudentSettings(layers=2, updates=60, batch=4, learning_rate=3e-3)
    made = distil(teacher, COLUMNS, settings)
    assert made.metric.network.encoder.config.num_hidden_layers == 2
    first = replace(teacher, network=first_student(teacher.network, 2))
    before, after = (Scorer(one).score({"": mt}, src, ref)[""] for one in (first, made.metric))
    assert np.abs(after - wanted).mean() < 0.8 * np.abs(before - wanted).mean()
    if values:
        return
    few = replace(settings, updates=3)
    made, again = (distil(teacher, COLUMNS, few).metric.network.parameters() for _ in range(2))
    for one, other in zip(made, again, strict=True):
        assert torch.equal(one, other)


def test_a_long_text_is_named_once_by_its_line(tmp_path, caplog):
    teacher = load_metric(make_checkpoint(tmp_path / "model", make_encoder(tmp_path / "encoder")))
    columns = [[f"{text} {number}" for number in range(40)] for text in ("a", "b", "c")]
    for column, line in zip(columns, (2, 20, 39), strict=True):
        column[line] *= 99
    distil(teacher, columns, StudentSettings(layers=2, updates=1))
    told = [record.getMessage().partition(" ")[0] for record in caplog.records]
    assert told == ["sources:21:", "references:40:", "translations:3:"]


def test_layers_of_a_student(tmp_path):
    shape = {"num_hidden_layers": 6}
    encoder = make_encoder(tmp_path / "encoder", **shape)
    teacher = load_metric(make_checkpoint(tmp_path / "model", encoder, layer=4)).network
    layers = teacher.encoder.encoder.layer
    student = first_student(teacher, 3)
    kept = [
        layers[0],
        layers[2],
        layers[3],
    ]  # 0, 1.5 and 3, rounded to even; higher layers are not read
    for one, other in zip(student.encoder.encoder.layer, kept, strict=True):
        assert torch.equal(one.output.dense.weight, other.output.dense.weight)
    assert student.architecture.layer == 3
    (only,) = first_student(teacher, 1).encoder.encoder.layer
    assert torch.equal(only.output.dense.weight, layers[3].output.dense.weight)
    with pytest.raises(InputError, match="--layers 5: the teacher reads 4"):
        first_student(teacher, 5)


def test_too_few_segments(tmp_path):
    teacher = load_metric(make_checkpoint(tmp_path / "model", make_encoder(tmp_path / "encoder")))
    with pytest.raises(InputError, match="10 segments are too few"):
        distil(teacher, [column[:10] for column in COLUMNS], StudentSettings())


def test_a_loss_that_is_no_number_stops_the_training(tmp_path):
    encoder = make_encoder(tmp_path / "encoder")
    teacher = load_metric(make_checkpoint(tmp_path / "model", encoder))
    wild = StudentSettings(layers=2, updates=20, batch=4, learning_rate=1e30)
    with pytest.raises(InputError, match=r"the loss is (inf|nan) in update"):
        distil(teacher, COLUMNS, wild)


def test_a_shape_is_refused_before_the_text_is_scored(tmp_path, monkeypatch):
    teacher = load_metric(make_checkpoint(tmp_path / "model", make_encoder(tmp_path / "encoder")))
    monkeypatch.setattr(Scorer, "score", None)
    with pytest.raises(InputError, match="--layers 6: the teacher reads 3; name fewer"):
        distil(teacher, COLUMNS, StudentSettings(layers=6))
