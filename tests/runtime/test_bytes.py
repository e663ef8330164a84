"""Characters without a piece: a model trained to copy bytes copies them in every engine and precision."""

import random

import numpy as np
import pyarrow as pa
import pytest

from tests.runtime.conftest import ISAS, quantized
from weebill.__main__ import main
from weebill.commands.compare import compare
from weebill.corpus.table import write_table
from weebill.kernels.extension import PORTABLE, available
from weebill.runtime.shortlist import save_shortlist
from weebill.runtime.text import load_runtime
from weebill.runtime.translator import Runtime
from weebill.translation.loading import load_translator
from weebill.translation.model.folder import load_model
from weebill.translation.model.vocabulary import OWN, train_vocabulary
from weebill.translation.training.settings import TrainingConfig
from weebill.translation.training.trainer import make_model
from weebill_runtime.normalisation import Normalisation
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import Vocabulary

WORDS = ["the", "cat", "dog", "sees", "hears", "a", "house", "tree", "song"]
RARE = [*map(chr, range(0x1F600, 0x1F640)), *map(chr, range(0x4E00, 0x4E40)), *"éñøłžθщ"]
SHAPE = {
    **{"embedding": 64, "feed_forward": 128, "heads": 4, "attention_width": 64},
    **{"encoder_layers": 1, "decoder_layers": 1, "decoder_tied": False, "decoder": "ssru"},
}
LINES = ["the cat 😀 sees", "a 丁 house", "song щ tree", "the 😂 dog hears", "house é"]


@pytest.fixture(scope="module")
def copier(tmp_path_factory):
    """Train a model to copy words, some with a rare character."""
    folder, dice = tmp_path_factory.mktemp("copier"), random.Random(1)
    lines = []
    for _ in range(3000):
        words = dice.choices(WORDS, k=dice.randrange(1, 4))
        words.insert(dice.randrange(len(words) + 1), dice.choice(RARE))
        lines.append(" ".join(words))
    for name, some in (("text", lines), ("validation", lines[:10])):
        write_table(folder / f"{name}.parquet", pa.table({"source": some, "target": some}))
    common = [" ".join(dice.choices(WORDS, k=4)) for _ in range(300)]
    record = Normalisation.of(("en", "de"))
    options = {"normalizer": OWN, "byte_fallback": True, "normalisation": record}
    train_vocabulary(common, folder / "vocab.spm", 280, seed=1, **options)
    config = TrainingConfig(
        batch_tokens=1024, updates=280, learning_rate=0.006, warmup=40, validate_every=280
    )
    paths = [folder / "vocab.spm"], [folder / "text.parquet"], folder / "validation.parquet"
    make_model(folder / "model", "student", SHAPE, *paths, config, seed=1)
    return folder / "model"


@pytest.mark.parametrize("isa", [*available(), PORTABLE])
@pytest.mark.parametrize("beam", [1, 4])
def test_rare_characters_come_out(copier, isa, beam):
    options = SearchOptions(beam=beam)
    assert load_runtime(copier, isa).translate(LINES, options) == LINES
    assert load_translator(copier).translate(LINES, options) == LINES


@pytest.mark.parametrize("precision", ["int8", "int8_rowwise", "log4"])
def test_rare_characters_come_out_of_small_weights(copier, precision):
    model = load_model(copier)
    pieces = model.vocabulary.encode(LINES)
    network = quantized(model.network, precision, texts=pieces)
    for isa in (*ISAS, PORTABLE):
        found = Runtime([network], isa).translate(pieces, SearchOptions())
        assert model.vocabulary.decode(found) == LINES


def test_a_shortlist_allows_all_bytes(copier, tmp_path):
    vocabulary = Vocabulary(copier / "vocab.spm")
    same = np.arange(len(vocabulary), dtype=np.int32)[:, None]
    same[vocabulary.byte_pieces] = -1
    frequent = np.array(vocabulary.byte_pieces, np.int32)
    save_shortlist(Shortlist(same, frequent, vocabulary.sha256), tmp_path / "shortlist")
    translator = load_runtime(copier, shortlist=tmp_path / "shortlist")
    assert translator.translate(LINES) == LINES
    out = str(tmp_path / "marian")
    shortlist = ["--shortlist", str(tmp_path / "shortlist")]
    assert main(["convert", str(copier), out, "--to", "marian", *shortlist]) == 0
    rows = [line.split() for line in (tmp_path / "marian/lex.s2t").read_text().splitlines()]
    names = vocabulary.pieces
    assert {target for target, source, _ in rows if source == names[0]} >= {
        names[piece] for piece in vocabulary.byte_pieces
    }


def test_rare_characters_come_out_after_marian(copier, tmp_path):
    out, again = str(tmp_path / "marian"), str(tmp_path / "again")
    assert main(["convert", str(copier), out, "--to", "marian"]) == 0
    command = ["import-marian", f"{out}/model.npz", again, "--vocabulary", f"{out}/vocab.spm"]
    assert main(command) == 0
    assert load_runtime(again).translate(LINES) == LINES


def test_compare_normalises_its_input(copier):
    typed = [line.replace(" ", "\u00ad ") for line in LINES]
    found = compare(copier, typed, references=LINES)
    assert found["identical"] == len(LINES)
    assert found["runtime"]["chrF"] == pytest.approx(100)
