"""A small vocabulary, small tables and small networks for the tests of translation."""

import dataclasses

import pyarrow as pa
import pytest
import torch

from weebill.corpus.table import write_table
from weebill.translation.model.network import Translator
from weebill.translation.model.vocabulary import train_vocabulary
from weebill_runtime.architecture import Architecture, LayerShape
from weebill_runtime.names import SIDES
from weebill_runtime.vocabulary import Vocabulary, VocabularyPair

SUBJECTS = {
    "the cat": "die Katze",
    "the dog": "der Hund",
    "a child": "ein Kind",
    "my friend": "mein Freund",
}
VERBS = {"sees": "sieht", "hears": "hört", "knows": "kennt", "likes": "mag"}
OBJECTS = {
    "the tree": "den Baum",
    "the song": "das Lied",
    "a house": "ein Haus",
    "the street": "die Straße",
}


def sentence_pairs() -> list[tuple[str, str]]:
    """Return all 64 sentence pairs of a grammar of subject, verb and object."""
    return [
        (f"{s} {v} {o} .", f"{s_de} {v_de} {o_de} .")
        for s, s_de in SUBJECTS.items()
        for v, v_de in VERBS.items()
        for o, o_de in OBJECTS.items()
    ]


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory) -> Vocabulary:
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.spm"
    train_vocabulary([text for pair in sentence_pairs() for text in pair], path, size=50, seed=1)
    return Vocabulary(path)


@pytest.fixture(scope="session")
def pair(tmp_path_factory) -> VocabularyPair:
    """Train an English and a German vocabulary."""
    folder = tmp_path_factory.mktemp("pair")
    for side, name, size in zip(zip(*sentence_pairs(), strict=True), SIDES, (30, 36), strict=True):
        train_vocabulary(side, folder / name, size=size, seed=1)
    return VocabularyPair(*(Vocabulary(folder / name) for name in SIDES))


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """Write all pairs, and every eighth pair as validation.parquet in the same folder."""
    path = tmp_path_factory.mktemp("corpus") / "corpus.parquet"
    for name, pairs in (("corpus", sentence_pairs()), ("validation", sentence_pairs()[::8])):
        sources, targets = zip(*pairs, strict=True)
        table = pa.table({"source": sources, "target": targets})
        write_table(path.with_name(f"{name}.parquet"), table)
    return path


def small_architecture(pieces: int = 50, kind: str = "ssru", tied: bool = True) -> Architecture:
    """Return an architecture of two encoder and two decoder layers; attention is wider than the embedding (16)."""
    shape = LayerShape(heads=3, head_size=8, feed_forward=24)
    decoder = dataclasses.replace(shape, self_heads=3 if kind == "attention" else 0)
    return Architecture(
        vocabulary=pieces,
        embedding=16,
        encoder=(shape, dataclasses.replace(shape, heads=1, feed_forward=8)),
        decoder=(decoder,) if tied else (decoder,) * 2,
        decoder_depth=2,
        decoder_kind=kind,
    )


@pytest.fixture
def network_of_two(pair) -> Translator:
    torch.manual_seed(1)
    target, source = pair.sizes
    shape = dataclasses.replace(small_architecture(target), source_vocabulary=source)
    return Translator(shape).eval()


@pytest.fixture
def network(vocabulary) -> Translator:
    torch.manual_seed(1)
    return Translator(small_architecture(len(vocabulary)))
