"""Small COMET models with random weights, in unbabel-comet's checkpoint format, and text for them."""

import io
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sentencepiece

from weebill.metric.encoder_folders import write_encoder
from weebill.rehearsal.making.metrics import hyperparameters as hyperparameters
from weebill.rehearsal.making.metrics import make_checkpoint as make_checkpoint
from weebill.rehearsal.making.metrics import random_state as random_state
from weebill.rehearsal.making.metrics import write_checkpoint as write_checkpoint

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

# Three layers; sentences have at most 62 pieces.
SHAPE = {
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 66,
    "layer_norm_eps": 1e-5,
}


def make_encoder(folder: Path, family: str = "XLM-RoBERTa", **shape: Any) -> Path:
    """Write the config.json and tokenizer.json of an encoder, which COMET finds by `pretrained_model`."""
    folder.mkdir(parents=True)
    for name, content in _encoder_files(family, json.dumps({**SHAPE, **shape})).items():
        (folder / name).write_bytes(content)
    return folder


@cache
def _encoder_files(family: str, shape: str) -> dict[str, bytes]:
    """Train the tokenizer of an encoder once, and return its files by name; shape: in JSON."""
    lines, pieces = [*SOURCES, *REFERENCES] * 3, 150 if family == "BERT" else 120
    with TemporaryDirectory() as folder:
        made = write_encoder(Path(folder) / "made", family, lines, pieces, **json.loads(shape))
        return {path.name: path.read_bytes() for path in made.iterdir()}


def write_sentencepiece(folder: Path) -> None:
    """Replace an encoder's tokenizer.json by a SentencePiece model, as old encoders have."""
    (folder / "tokenizer.json").unlink()
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*SOURCES, *REFERENCES] * 3),
        model_writer=model,
        vocab_size=90,  # XLM-R has two more ids than pieces
        hard_vocab_limit=False,
        minloglevel=2,
    )
    (folder / "sentencepiece.bpe.model").write_bytes(model.getvalue())


def make_members(folder: Path) -> list[str]:
    """Write the checkpoints of three ensemble members, the last without references; return their folders."""
    encoder, found = make_encoder(folder / "encoder"), []
    for seed, kind in enumerate(("regression_metric",) * 2 + ("referenceless_regression_metric",)):
        values = hyperparameters(encoder, class_identifier=kind)
        path = write_checkpoint(folder / f"{seed}", values, random_state(values, seed))
        found.append(str(path))
    return found
