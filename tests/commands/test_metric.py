"""`weebill metric` with a small checkpoint: converted, pruned and distilled models give scores."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder
from weebill.__main__ import main
from weebill.metric.folder import load_metric, save_metric
from weebill.metric.scorer import Scorer


@pytest.fixture
def model(tmp_path):
    return str(make_checkpoint(tmp_path / "model", make_encoder(tmp_path / "encoder")))


def scores(folder):
    return np.stack([*Scorer(folder).score(SYSTEMS, SOURCES, REFERENCES).values()])


def test_convert(tmp_path, model, capsys):
    for precision in ("int8", "float32"):
        folder = tmp_path / precision
        assert main(["metric", "convert", model, str(folder), "--precision", precision]) == 0
        assert str(folder) in capsys.readouterr().out
        np.testing.assert_allclose(scores(folder), scores(model), atol=0.01 * (precision == "int8"))
    assert main(["metric", "convert", model, str(folder)]) == 1
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options", [["convert"], ["convert", "--precision", "float32"], ["prune", "--heads", ".5"]]
)
def test_int8_weights_are_refused(tmp_path, model, capsys, options):
    stored, (action, *rest) = str(tmp_path / "stored"), options
    assert main(["metric", "convert", model, stored]) == 0
    assert main(["metric", action, stored, str(tmp_path / "made"), *rest]) == 1
    assert "its weights are int8" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


def test_prune(tmp_path, model, capsys):
    text, folder = tmp_path / "text", tmp_path / "pruned"
    text.write_text("".join(f"{line}\n" for line in [*SOURCES, *REFERENCES]))
    options = ["--vocabulary", str(text), "--layers", "1", "--heads", "0.25", "--neurons", "0.5"]
    assert main(["metric", "prune", model, str(folder), *options]) == 0
    config = json.loads((folder / "config.json").read_text())
    assert config["encoder"]["num_hidden_layers"] == 2
    assert set(config["encoder"]["layer_shapes"]["heads"].values()) == {3}
    assert set(config["encoder"]["layer_shapes"]["neurons"].values()) == {20}
    assert config["lineage"]["pieces"] == config["encoder"]["vocab_size"]
    assert np.isfinite(scores(folder)).all()
    other = ["metric", "prune", model, str(tmp_path / "other")]
    for words, told in (
        ([], "nothing to remove"),
        (["--heads", ".5", "--score", "nonsense"], "--score is of judgements"),
        (["--layers", "1", "--judgements", str(text)], "--judgements choose heads and neurons"),
    ):
        assert main([*other, *words]) == 1
        assert told in capsys.readouterr().err


def test_distil(tmp_path, model, capsys):
    files = {}
    for option, lines in (("-s", SOURCES), ("-r", REFERENCES), ("-t", SYSTEMS["bad"])):
        files[option] = tmp_path / option
        files[option].write_text("".join(f"{line}\n" for line in lines * 8))
    given = [word for option, file in files.items() for word in (option, str(file))]
    folder = tmp_path / "student"
    shape = ["--layers", "1", "--updates", "4"]
    assert main(["metric", "distil", model, str(folder), *given, *shape]) == 0
    assert "on 10 segments held out" in capsys.readouterr().out
    assert load_metric(folder).network.encoder.config.num_hidden_layers == 1
    assert main(["metric", "distil", model, str(tmp_path / "b"), *given[2:]]) == 1
    assert "reads mt, src, ref; give the file of src" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("action", "options"),
    [("convert", []), ("prune", ["--heads", "0.5"]), ("distil", ["-t", "text"])],
)
def test_a_folder_that_cannot_be_made_is_told_before_the_model_is_read(
    tmp_path, model, capsys, monkeypatch, action, options
):
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("Ja.\n" * 50)
    monkeypatch.setattr("weebill.metric.folder.load_metric", lambda *_, **__: pytest.fail("read"))
    assert main(["metric", action, model, "text/made", *options]) == 1
    assert "text/made: cannot be made" in capsys.readouterr().err


def test_distil_refuses_a_text_that_the_model_does_not_read(tmp_path, capsys):
    values = {"class_identifier": "referenceless_regression_metric"}
    model = make_checkpoint(tmp_path / "model", make_encoder(tmp_path / "encoder"), **values)
    text = tmp_path / "text"
    text.write_text("Ja.\n" * 40)
    given = ["-s", str(text), "-r", str(text), "-t", str(text)]
    assert main(["metric", "distil", str(model), str(tmp_path / "student"), *given]) == 1
    assert f"{text}: " in (told := capsys.readouterr().err)
    assert "reads mt, src alone; leave out the references" in told


@pytest.mark.parametrize("action", ["convert", "prune"])
def test_a_diverged_model_is_not_written(tmp_path, model, capsys, action):
    metric = load_metric(model)
    metric.network.encoder.encoder.layer[0].output.dense.weight.data[0, 0] = torch.nan
    save_metric(tmp_path / "diverged", metric, {})
    options = ["--heads", "0.5"] if action == "prune" else []
    words = ["metric", action, str(tmp_path / "diverged"), str(tmp_path / "made"), *options]
    assert main(words) == 1
    assert "the model has diverged, take another" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--vocabulary", "nowhere"], "nowhere: no such file"),
        (["--languages", "de", "xq"], "no language 'xq'"),
    ],
)
def test_a_wrong_vocabulary_is_told_before_the_pruning(
    tmp_path, model, capsys, monkeypatch, words, told
):
    monkeypatch.setattr("weebill.metric.pruning.prune", lambda *_: pytest.fail("pruned"))
    made = str(tmp_path / "made")
    assert main(["metric", "prune", model, made, "--heads", "0.5", *words]) == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("action", "words", "told"),
    [
        ("distil", ["-s", "-", "-t", "-"], "standard input is named twice"),
        ("prune", ["--vocabulary", "-", "-"], "standard input is named twice"),
        ("distil", ["-s", "long", "-t", "short"], "short has 40, long has 50; give one line"),
        ("distil", ["-s", "long", "-t", "nowhere"], "nowhere: no such file"),
    ],
)
def test_wrong_text_is_told_before_the_model_is_read(
    tmp_path, capsys, monkeypatch, action, words, told
):
    monkeypatch.chdir(tmp_path)
    for name, count in (("long", 50), ("short", 40)):
        Path(name).write_text("Ja.\n" * count)
    assert main(["metric", action, "no/such.ckpt", "made", *words]) == 1
    assert told in capsys.readouterr().err


def test_equal_scores_have_no_correlation(tmp_path, model, capsys):
    (tmp_path / "text").write_text("Ja.\n" * 40)
    files = [word for option in ("-s", "-r", "-t") for word in (option, str(tmp_path / "text"))]
    words = ["--layers", "1", "--updates", "1"]
    assert main(["metric", "distil", model, str(tmp_path / "student"), *files, *words]) == 0
    assert "segments held out: undefined: all are equal" in capsys.readouterr().out
