"""Checkpoint of unbabel-comet with random weights, a published shape, and a tokenizer for the text to score."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
import yaml
from transformers import XLMRobertaConfig, XLMRobertaModel

from weebill.errors import InputError
from weebill.hugging_face.families import prunable
from weebill.metric.architecture import Architecture
from weebill.metric.folder import Metric
from weebill.metric.network import MetricNetwork
from weebill.metric.pruning import remove_top_layers
from weebill.metric.tokenizer import train_tokenizer
from weebill.pruning.cut import cut

# Shapes of XLM-R (Conneau et al. 2020) and of DISTIL-COMET; "tiny" is for tests.
SHAPES = {
    "tiny": {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32},
    "base": {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072},
    "distil": {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 1536},
    "large": {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096},
}  # fmt: skip
PIECES = 16_000  # XLM-R has more, but divides the text into about the same number of pieces
SHARED = {"max_position_embeddings": 514, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
HYPERPARAMETERS = {
    "class_identifier": "regression_metric",
    "encoder_model": "XLM-RoBERTa",
    "pool": "avg",
    "layer": "mix",
    "layer_transformation": "softmax",
    "layer_norm": False,
    "hidden_sizes": [3072, 1024],
    "activations": "Tanh",
    "final_activation": None,
}


def write_random_checkpoint(folder: Path, shape: str, lines: Iterable[str]) -> Path:
    """Write a regression model's folder, with the encoder's folder in it; its tokenizer is trained on `lines`."""
    encoder = folder / "encoder"
    encoder.mkdir(parents=True)
    pieces = train_tokenizer(encoder / "tokenizer.json", lines, PIECES, keep=True)
    network = random_network(shape, pieces)
    network.encoder.config.save_pretrained(encoder)
    values: dict[str, Any] = {**HYPERPARAMETERS, "pretrained_model": str(encoder.resolve())}
    (folder / "hparams.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    (folder / "checkpoints").mkdir()
    content = {"state_dict": _their_names(network), "hyper_parameters": values}
    # If the version is missing, Lightning reads the file in its oldest format.
    content["pytorch-lightning_version"] = "2.5.6"
    torch.save(content, folder / "checkpoints/model.ckpt")
    return folder


def checkpoint_of(metric: Metric) -> Path:
    """Return a metric's file, for opponents to load.  Raises InputError if it is not a file of unbabel-comet."""
    if metric.file.suffix != ".ckpt":
        raise InputError(
            f"--model {metric.name}: a metric folder, which unbabel-comet does not read; name the checkpoint "
            "that it was made of"
        )
    return metric.file


def random_network(shape: str, pieces: int) -> MetricNetwork:
    """Make a random network with one of SHAPES, in evaluation mode."""
    config = XLMRobertaConfig(vocab_size=pieces, **SHARED, **SHAPES[shape])
    torch.manual_seed(1)
    architecture = Architecture.from_hyperparameters(HYPERPARAMETERS, "hparams.yaml")
    return MetricNetwork(architecture, XLMRobertaModel(config, add_pooling_layer=False)).eval()


def prune(network: MetricNetwork) -> None:
    """Remove a quarter of layers and neurons and an eighth of the heads, like PRUNE-COMET (COMETINHO §4.3)."""
    remove_top_layers(network, network.encoder.config.num_hidden_layers // 4)
    view = prunable(network.encoder)
    cut(
        view,
        {block.name: range(block.heads // 8) for block in view.attention_blocks()},
        {block.name: range(block.neurons // 4) for block in view.feed_forward_blocks()},
    )


def _their_names(network: MetricNetwork) -> dict[str, torch.Tensor]:
    """Return a network's tensors by unbabel-comet's names."""
    state = {f"encoder.model.{name}": value for name, value in network.encoder.state_dict().items()}
    state["layerwise_attention.gamma"] = network.mix.gamma.detach()
    for number, weight in enumerate(network.mix.weights.detach().split(1)):
        state[f"layerwise_attention.scalar_parameters.{number}"] = weight.clone()
    # Activation and dropout are between the linear maps.
    for number, linear in enumerate(network.estimator.linears):
        for name, value in linear.state_dict().items():
            state[f"estimator.ff.{3 * number}.{name}"] = value
    return state
