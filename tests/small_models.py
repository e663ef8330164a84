"""Small models with random weights, for tests that need a model folder."""

from pathlib import Path

import torch

from weebill.translation.model.folder import save_model
from weebill.translation.model.network import Translator
from weebill.translation.model.vocabulary import OWN, train_vocabulary
from weebill_runtime.architecture import Architecture, LayerShape
from weebill_runtime.normalisation import Normalisation
from weebill_runtime.vocabulary import Vocabulary

TEXT = [
    "The small bird sings in the old tree.",
    "Der kleine Vogel singt im alten Baum.",
    "A dog and two cats sleep under the table.",
    "Ein Hund und zwei Katzen schlafen unter dem Tisch.",
    "She reads 12 books a year, he reads none.",
    "Sie liest 12 Bücher im Jahr, er liest keins.",
]


def make_vocabulary(path: Path, size: int = 60, seed: int = 1, **options) -> Vocabulary:
    """Train a SentencePiece model with a few sentences."""
    train_vocabulary(TEXT, path, size=size, seed=seed, **options)
    return Vocabulary(path)


def make_whole_vocabulary(path: Path) -> Vocabulary:
    """Train a SentencePiece model with bytes on English and German text, as experiments do by default."""
    record = Normalisation.of(("en", "de"))
    options = {"normalizer": OWN, "byte_fallback": True, "normalisation": record}
    return make_vocabulary(path, size=310, **options)


def make_network(pieces: int, seed: int = 0, kind: str = "ssru") -> Translator:
    """Make a network whose output depends clearly on its input."""
    torch.manual_seed(seed)
    encoder = LayerShape(heads=2, head_size=8, feed_forward=32)
    decoder = LayerShape(2, 8, 32, self_heads=2 if kind == "attention" else 0)
    network = Translator(Architecture(pieces, 16, (encoder,), (decoder,), 1, kind))
    with torch.no_grad():
        network.embedding.weight.normal_(std=1.0)
        network.output.bias[0] = 2.0
    return network.eval()


def make_folder(path: Path, vocabulary: Vocabulary, seed: int = 0, kind: str = "ssru") -> Path:
    """Write a model folder with a network of `make_network`."""
    save_model(path, make_network(len(vocabulary), seed, kind), vocabulary, lineage={"seed": seed})
    return path
