"""COMETINHO at the paper's size: unbabel-comet's settings, and alternatives in comments that are ready to use."""

import csv
import re
from pathlib import Path

import pytest
import yaml

import weebill.report
from weebill.configuration.checking import check
from weebill.experiment.known_models import known_model
from weebill.yaml_files import read_yaml

FILE = Path(__file__).parents[2] / "config/cometinho.yaml"
TABLE = Path(weebill.report.__file__).parent / "papers/cometinho_table1.csv"
# configs/models/regression_model.yaml and configs/trainer.yaml of unbabel-comet 2.2, apart from its hidden sizes
EPOCHS, BATCHES = 5, 8
OWN = {
    "nr_frozen_epochs": 0.3,
    "keep_embeddings_frozen": True,
    "encoder_learning_rate": 1.0e-6,
    "learning_rate": 1.5e-5,
    "layerwise_decay": 0.95,
    "layer": "mix",
    "layer_transformation": "sparsemax",
    "layer_norm": False,
    "dropout": 0.1,
    "batch_size": 16,
}


@pytest.fixture
def config():
    return read_yaml(FILE)


def alternative(name):
    """Read the entry `name` that stands in a comment."""
    [line] = re.findall(rf"^ *# ({name}: .*)$", FILE.read_text("utf-8"), re.MULTILINE)
    return yaml.safe_load(line)


def test_the_reference_is_trained_like_unbabel_comets_own_model(config):
    training = check(config, str(FILE))["reference"]["training"]
    assert (training["epochs"], training["accumulate"]) == (EPOCHS, BATCHES)
    assert training["hyperparameters"] == {**OWN, "hidden_sizes": [3072, 1536]}


def test_the_student_is_trained_like_the_reference(config):
    """COMETINHO §5; updates have as many segments, but their batches are larger."""
    training = check(config, str(FILE))["distillation"]["training"]
    found = training["hyperparameters"]
    assert training["epochs"] == EPOCHS
    assert training["accumulate"] * found["batch_size"] == BATCHES * OWN["batch_size"]
    assert found == {**OWN, "hidden_sizes": [384], "batch_size": found["batch_size"]}


def test_minilm_takes_the_place_of_the_pretrained_encoder(config):
    made = config["encoders"]["distil"]
    config["encoders"] |= alternative("distil")
    del config["texts"]
    found = check(config, str(FILE))["encoders"]["distil"]
    shape = known_model(found["hugging_face"])
    assert (shape.layers, shape.heads, shape.width) == (12, 12, 384)
    assert (made["layers"], made["heads"], made["width"]) == (12, 12, 384)


def test_other_metrics_fill_rows_of_the_paper(config):
    config |= alternative("metrics")
    for name in ("mbert", "bleurt-20"):
        config["encoders"] |= alternative(name)
    metrics = check(config, str(FILE))["metrics"]
    with TABLE.open(newline="") as file:
        millions = {row["metric"]: row["params_m"] for row in csv.DictReader(file)}
    assert metrics.keys() == {"BERTScore", "BLEURT"} and metrics.keys() <= millions.keys()
    encoder = config["encoders"][metrics["BERTScore"]["encoder"]]["hugging_face"]
    assert known_model(encoder).weights / 1e6 == pytest.approx(int(millions["BERTScore"]), rel=0.03)
