"""Models trained by unbabel-comet: killed runs end with the same bytes, and our scorer reads the models."""

import json
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from safetensors.torch import load_file

from tests.metric.comet_environment import COMET, need_comet
from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_encoder
from weebill.files import read_json
from weebill.hugging_face.loading import read_config
from weebill.metric.folder import load_metric
from weebill.metric.network import FAMILIES
from weebill.metric.pretraining import PretrainingSettings, pretrain
from weebill.metric.scorer import Scorer
from weebill.metric.tokenizer import make_tokenizer

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "epochs": 3,
    "accumulate": 2,
    "checkpoint_every": 1,
    "patience": 0,
    "hyperparameters": {
        "hidden_sizes": [8],
        "encoder_learning_rate": 1e-3,
        "learning_rate": 3e-3,
    },
}


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    """Write an encoder, a training table of 24 segments (batches of 4) and a validation table of 9."""
    need_comet()
    folder = tmp_path_factory.mktemp("material")
    lines = [*SOURCES, *REFERENCES] * 3
    make_tokenizer(folder / "tokenizer", lines, 120)
    shape = PretrainingSettings(2, 2, 16, 24, positions=66, updates=4, batch_pieces=90)
    pretrain(shape, lines, folder / "tokenizer", folder / "encoder", seed=1)
    rows = [
        {"src": source, "mt": line, "ref": reference, "score": 0.1 * number - len(line) / 50}
        for lines in SYSTEMS.values()
        for number, (source, line, reference) in enumerate(
            zip(SOURCES, lines, REFERENCES, strict=True)
        )
    ]
    pd.DataFrame(rows * 2).to_parquet(folder / "training.parquet")
    pd.DataFrame(rows[:9]).to_csv(folder / "validation.csv", index=False)
    return folder


def train(material, output, after=None, encoder="encoder", **settings):
    """Run the workflow's script; after: training steps before a kill."""
    script = ROOT / "workflow_scripts/metric/train_regression.py"
    begun = [str(COMET), script]
    if after is not None:
        begun = [str(COMET), ROOT / "tests/metric/killed_training.py", str(after)]
    options = {
        "log": output.with_suffix(".log"),
        "encoder": encoder,
        "training": "training.parquet",
        "validation": "validation.csv",
        "output": output,
        "seed": 1,
        "threads": 1,
        "settings": json.dumps(SETTINGS | settings),
    }
    command = [*begun, *(word for key, one in options.items() for word in (f"--{key}", str(one)))]
    return subprocess.run(
        command,
        cwd=material,
        env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_killed_training_goes_on_to_the_same_bytes(material, tmp_path):
    assert train(material, tmp_path / "whole").returncode == 0
    assert train(material, tmp_path / "killed", after=3).returncode == -signal.SIGKILL
    assert train(material, tmp_path / "killed", after=7).returncode == -signal.SIGKILL
    assert train(material, tmp_path / "killed").returncode == 0
    for name in ("checkpoints/model.ckpt", "training.json", "hparams.yaml"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (tmp_path / "killed.work").exists()
    # An epoch has 6 steps.  The first run made 3 and kept 2; the second ended at step 3 of epoch 2 and kept 8 in all.
    log = (tmp_path / "killed.log").read_text()
    assert [log.count(f"epoch {number}:") for number in (1, 2, 3)] == [1, 1, 1]
    history = [row["kendall"] for row in read_json(tmp_path / "whole/training.json")["validations"]]
    assert history.index(max(history)) == 1  # the interrupted epoch is the best


@pytest.mark.parametrize("kind", ["regression_metric", "referenceless_regression_metric"])
def test_our_scores_are_those_of_unbabel_comet(material, tmp_path, kind):
    done = train(material, tmp_path / "model", kind=kind, epochs=1, precision="bfloat16")
    assert done.returncode == 0, done.stderr
    scorer = Scorer(load_metric(tmp_path / "model"))  # works from any folder
    found = scorer.score(SYSTEMS, SOURCES, REFERENCES if scorer.needs_references else None)
    wanted = comet_scores(material, tmp_path / "model")
    assert np.ptp(wanted) > 1e-3
    np.testing.assert_allclose(np.concatenate([*found.values()]), wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("rate", "accumulate", "message"),
    [
        (1e30, 2, "training: the loss is nan in update 2; lower the learning rate"),
        (1e30, 6, "training: scores of the validation are no numbers; lower the learning rate"),
    ],
)
def test_a_training_that_diverges_ends_with_one_error(
    material, tmp_path, rate, accumulate, message
):
    """The second one makes a single update, after its last loss."""
    rates = SETTINGS["hyperparameters"] | {"learning_rate": rate, "encoder_learning_rate": rate}
    done = train(material, tmp_path / "model", hyperparameters=rates, accumulate=accumulate)
    assert done.returncode != 0 and not (tmp_path / "model").exists()
    assert message in (tmp_path / "model.log").read_text()


def comet_scores(material, model):
    """Return unbabel-comet's scores of all segments of all systems; it finds encoders in the folder `material`."""
    samples = [
        {"src": source, "mt": line, "ref": reference}
        for lines in SYSTEMS.values()
        for source, line, reference in zip(SOURCES, lines, REFERENCES, strict=True)
    ]
    task, answer = (model.with_name(f"{name}.json") for name in ("task", "answer"))
    task.write_text(json.dumps({"score": {str(model): [samples]}, "write": {}}))
    subprocess.run(
        [COMET, ROOT / "tests/metric/oracle.py", task, answer],
        cwd=material,  # the checkpoint names the encoder relative to this folder
        check=True,
        capture_output=True,
    )
    (found,) = json.loads(answer.read_text())[str(model)]
    return found["scores"]


@pytest.mark.parametrize("family", ["MiniLM", "BERT", "RemBERT"])
def test_encoders_of_other_classes_are_recognised_and_trained(material, tmp_path, family):
    """MiniLM's tokenizer comes from the folder; unbabel-comet itself would look for xlm-roberta-base."""
    place = material / family
    kind = FAMILIES[family]
    make_encoder(place, family)
    torch.manual_seed(1)
    kind(kind.config_class.from_dict(read_config(place))).save_pretrained(place)
    done = train(material, tmp_path / "model", encoder=family, epochs=1)
    assert done.returncode == 0, done.stderr
    values = yaml.safe_load((tmp_path / "model/hparams.yaml").read_text())
    assert values["encoder_model"] == family
    state = torch.load(tmp_path / "model/checkpoints/model.ckpt", weights_only=True)["state_dict"]
    before = load_file(place / "model.safetensors")
    changes = {
        name: (state[f"encoder.model.{name}"] - before[name]).abs().max().item()
        for name in ("embeddings.word_embeddings.weight", "encoder.layer.0.output.dense.weight")
    }
    # Compared with the folder's weights, embeddings are frozen, and layers were trained a little.
    assert changes.pop("embeddings.word_embeddings.weight") == 0
    assert all(0 < change < 0.1 for change in changes.values())
    found = Scorer(load_metric(tmp_path / "model")).score(SYSTEMS, SOURCES, REFERENCES)
    if family == "MiniLM":
        shutil.copytree(place, material / "xlm-roberta-base")
    wanted = comet_scores(material, tmp_path / "model")
    assert np.ptp(wanted) > 1e-3
    np.testing.assert_allclose(np.concatenate([*found.values()]), wanted, atol=1e-5)


def test_a_class_that_is_not_the_encoders(material, tmp_path):
    values = SETTINGS["hyperparameters"] | {"encoder_model": "MiniLM"}
    done = train(material, tmp_path / "model", hyperparameters=values)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "weebill: encoder_model: found 'MiniLM', but encoder holds an encoder of the class XLM-RoBERTa; remove the "
        "key, which follows from the folder"
    )


def test_settings_that_are_wrong(material, tmp_path):
    done = train(material, tmp_path / "model", hyperparameters={"droput": 0.1})
    assert done.returncode == 1
    line = "weebill: metric: unbabel-comet has no hyperparameter 'droput' to set; did you mean"
    assert done.stderr.splitlines()[-1].startswith(line)
