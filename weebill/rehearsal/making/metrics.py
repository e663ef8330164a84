"""Small COMET models with random weights, in the format of unbabel-comet's checkpoints."""

from collections import OrderedDict
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor, nn

from weebill.hugging_face.loading import read_config
from weebill.metric.network import FAMILIES


def hyperparameters(encoder: Path, **other: Any) -> dict[str, Any]:
    """Return the hyperparameters of a checkpoint's model, without those of training."""
    return {
        "class_identifier": "regression_metric",
        "encoder_model": "XLM-RoBERTa",
        "pretrained_model": str(encoder),
        "pool": "avg",
        "layer": "mix",
        "layer_transformation": "softmax",
        "layer_norm": False,
        "hidden_sizes": [32, 16],
        "activations": "Tanh",
        "final_activation": None,
        "dropout": 0.1,
        **other,
    }


def random_state(values: dict[str, Any], seed: int = 1) -> dict[str, Tensor]:
    """Return random tensors for these hyperparameters, by unbabel-comet's names."""
    torch.manual_seed(seed)
    family = values["encoder_model"]
    kind = FAMILIES[family]
    encoder = kind(
        kind.config_class.from_dict(read_config(Path(values["pretrained_model"]))),
        add_pooling_layer=family == "MiniLM",  # as in unbabel-comet
    )
    state = {f"encoder.model.{name}": value for name, value in encoder.state_dict().items()}
    if values["layer"] == "mix":
        states = encoder.config.num_hidden_layers + 1
        for number in range(states):
            state[f"layerwise_attention.scalar_parameters.{number}"] = torch.randn(1)
        state["layerwise_attention.gamma"] = torch.tensor([1.3])
        state["layerwise_attention.dropout_mask"] = torch.zeros(states)
        state["layerwise_attention.dropout_fill"] = torch.full((states,), -1e20)
    width = encoder.config.hidden_size
    blocks = {"regression_metric": 6, "referenceless_regression_metric": 4}
    sizes = [blocks.get(values["class_identifier"], 1) * width, *values["hidden_sizes"], 1]
    for number, (inputs, outputs) in enumerate(pairwise(sizes)):
        linear = nn.Linear(inputs, outputs)
        state[f"estimator.ff.{3 * number}.weight"] = linear.weight.detach() * 2
        state[f"estimator.ff.{3 * number}.bias"] = linear.bias.detach()
    if values["class_identifier"] == "xcomet_metric":
        state["hidden2tag.weight"] = torch.randn(4, width)
        state["hidden2tag.bias"] = torch.randn(4)
    return {  # scaled, because a fresh network's scores hardly differ
        name: value + 0.1 * torch.randn_like(value) if name.startswith("encoder") else value
        for name, value in state.items()
    }


def write_checkpoint(folder: Path, values: dict[str, Any], state: dict[str, Tensor]) -> Path:
    """Write a checkpoint's folder as unbabel-comet's training and downloads leave it."""
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "hparams.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    content = {
        "epoch": 1,
        "global_step": 10,
        "pytorch-lightning_version": "2.5.6",
        "state_dict": OrderedDict(state),
        "loops": {"fit_loop": {"state_dict": {}}},
        "callbacks": {"EarlyStopping{}": {"best_score": torch.tensor(0.3), "wait_count": 0}},
        "hparams_name": "kwargs",
        "hyper_parameters": dict(values),
    }
    torch.save(content, folder / "checkpoints/model.ckpt")
    return folder


def make_checkpoint(folder: Path, encoder: Path, **other: Any) -> Path:
    """Write a checkpoint's folder, of a random model with these hyperparameters."""
    values = hyperparameters(encoder, **other)
    return write_checkpoint(folder, values, random_state(values))
