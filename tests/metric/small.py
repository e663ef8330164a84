"""Small COMET models with random weights, in the format of unbabel-comet's checkpoints, and text for them."""

import io
from collections import OrderedDict
from itertools import pairwise
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import yaml
from torch import Tensor, nn

from weebill.benchmarks.metric.encoder_folders import write_encoder
from weebill.metric.network import FAMILIES

SOURCES = [
    "The small bird sings in the old tree.",
    "A dog and two cats sleep under the table.",
    "She reads 12 books a year, he reads none.",
    "Yes.",
    "The bird, the dog and the cats were singing in the tree while she was reading under the table.",
    "The small bird sings in the old tree.",
]
REFERENCES = [
    "Der kleine Vogel singt im alten Baum.",
    "Ein Hund und zwei Katzen schlafen unter dem Tisch.",
    "Sie liest 12 Bücher im Jahr, er liest keins.",
    "Ja.",
    "Der Vogel, der Hund und die Katzen sangen im Baum, während sie unter dem Tisch las.",
    "Im alten Baum singt der kleine Vogel.",
]
SYSTEMS = {
    "good": [*REFERENCES[:4], "Vogel, Hund und Katzen sangen im Baum, sie las am Tisch.", ""],
    "bad": ["Vogel Baum", "Ein Hund.", "Sie <pad> Bücher", "Nein", "Der Hund " * 30, "Ja."],
}

# Three layers, for sentences of at most 62 pieces.
SHAPE = {
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 66,
    "layer_norm_eps": 1e-5,
}


def make_encoder(folder: Path, family: str = "XLM-RoBERTa", **shape: Any) -> Path:
    """Write an encoder's config.json and tokenizer.json, which COMET finds by `pretrained_model`."""
    lines, pieces = [*SOURCES, *REFERENCES] * 3, 150 if family == "BERT" else 120
    return write_encoder(folder, family, lines, pieces, **{**SHAPE, **shape})


def write_sentencepiece(folder: Path) -> None:
    """Replace an encoder's tokenizer.json by a SentencePiece model, as old encoders have."""
    (folder / "tokenizer.json").unlink()
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*SOURCES, *REFERENCES] * 3),
        model_writer=model,
        vocab_size=90,  # XLM-R's ids are its pieces and two more
        hard_vocab_limit=False,
        minloglevel=2,
    )
    (folder / "sentencepiece.bpe.model").write_bytes(model.getvalue())


def hyperparameters(encoder: Path, **other: Any) -> dict[str, Any]:
    """Return a checkpoint's hyperparameters of its model, without those of training."""
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
        kind.config_class.from_pretrained(values["pretrained_model"]),
        add_pooling_layer=family == "MiniLM",  # as unbabel-comet has it
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


def make_members(folder: Path) -> list[str]:
    """Write the checkpoints of an ensemble of three, the last of which reads no references; return their folders."""
    encoder, found = make_encoder(folder / "encoder"), []
    for seed, kind in enumerate(("regression_metric",) * 2 + ("referenceless_regression_metric",)):
        values = hyperparameters(encoder, class_identifier=kind)
        path = write_checkpoint(folder / f"{seed}", values, random_state(values, seed))
        found.append(str(path))
    return found
