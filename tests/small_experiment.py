"""A small valid experiment with its own zoo, so that tests do not depend on config/."""

import copy

import pytest

from weebill.configuration.checking import check
from weebill.configuration.schema import ConfigurationError

EXPERIMENT = {
    "experiment": "trial",
    "languages": {"source": "en", "target": "de"},
    "corpora": {"tatoeba": {"importer": "tatoeba", "pairs": 100}},
    "validation": {"importer": "tatoeba", "pairs": 10},
    "test_sets": {"news": {"importer": "files", "source": "news.en", "target": "news.de"}},
    "vocabulary": {"size": 500},
    "teacher": {"architecture": "big"},
    "students": ["small", "thin"],
    "pruning": {"pushy": {"method": "late-reset", "heads_per_iteration": 2, "iterations": 2}},
    "quantization": {"int8": {"finetune": {}}, "log4": {}},
}

SHAPE = {
    "embedding": 8,
    "feed_forward": 16,
    "heads": 4,
    "attention_width": 8,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "decoder_tied": False,
    "decoder": "ssru",
}
ZOO = {
    "small": SHAPE,
    "thin": {**SHAPE, "heads": 2},
    "big": {**SHAPE, "decoder": "attention"},
    "odd": {**SHAPE, "attention_width": 12},
    "trio": {**SHAPE, "decoder_layers": [1, 2, 3]},
    "paper.8k": {**SHAPE, "vocabulary": 8000, "paper": "wngt20"},
}


def merge(values, overrides):
    """Return `values` with `overrides`: mappings are merged key by key, all other values are replaced."""
    merged = dict(values)
    for key, value in overrides.items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            value = merge(merged[key], value)
        merged[key] = value
    return merged


@pytest.fixture
def zoo():
    return copy.deepcopy(ZOO)


@pytest.fixture
def experiment():
    """Return a function that changes the small experiment: it gets changes, and keys to remove."""

    def make(changes=None, without=()):
        config = merge(copy.deepcopy(EXPERIMENT), changes or {})
        for path in without:
            *parents, key = path.split(".")
            place = config
            for parent in parents:
                place = place[parent]
            del place[key]
        return config

    return make


@pytest.fixture
def faults(experiment, zoo):
    """Return a function that gives the error lines of the changed experiment, without the file name."""

    def check_changed(changes, without):
        with pytest.raises(ConfigurationError) as caught:
            check(experiment(changes, without), "trial.yaml", zoo)
        assert str(caught.value) == "\n".join(caught.value.errors)
        prefix = "trial.yaml: "
        assert all(line.startswith(prefix) for line in caught.value.errors)
        return [line.removeprefix(prefix) for line in caught.value.errors]

    return check_changed
