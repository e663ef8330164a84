"""Stand-ins that the library reads: files, tables, and models of the originals' classes."""

from pathlib import Path

import fasttext
import pyarrow.parquet as pq
import pytest
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from weebill.errors import InputError
from weebill.files import read_json, sha256_file
from weebill.metric.folder import load_metric
from weebill.rehearsal.making.stand_ins import make_all, with_checksums
from weebill.rehearsal.miniature.evaluation import small_checkpoint
from weebill.rehearsal.miniature.shapes import stand_in_of
from weebill.rehearsal.miniature.stand_ins import Model, StandIns
from weebill.translation.loading import load_translator
from weebill_runtime.options import SearchOptions


@pytest.fixture
def stand_ins(tmp_path):
    return StandIns("rehearsal-x", tmp_path)


def test_files_and_tables_are_written_and_mended(stand_ins):
    place = stand_ins.file("data/a.txt.zst", ["one", "two"])
    table = stand_ins.table("results/y/selected", {"source": ["a"], "dropped_by": [None]})
    assert place.endswith("data/a.txt")
    make_all(stand_ins)
    with open(place, "a", encoding="utf-8") as file:
        file.write("more\n")
    make_all(stand_ins)
    assert Path(place).read_text("utf-8") == "one\ntwo\n"
    assert pq.read_table(table).to_pydict() == {"source": ["a"], "dropped_by": [None]}


def test_a_public_text_is_fetched_by_address_and_checksum(stand_ins):
    assert stand_ins.file("data/origins/a/b.en", ["one"]) == "origin:rehearsal-x.a.b.en"
    make_all(stand_ins)
    [(name, entry)] = with_checksums(stand_ins.origins).items()
    file = stand_ins.local_dir / name
    assert entry["url"].endswith(f"/{name}") and entry["sha256"] == sha256_file(file)


def test_an_identifier_knows_its_languages(stand_ins):
    identifier = stand_ins.address("id.ftz", Model("identifier", languages=("en", "ru", "ja")))
    make_all(stand_ins)
    model = fasttext.load_model(str(stand_ins.local_dir / "id.ftz"))
    assert len(with_checksums(identifier)["sha256"]) == 64
    assert set(model.get_labels()) == {"__label__en", "__label__ru", "__label__ja"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("facebook/bart-base", AutoModelForSeq2SeqLM),
        ("openai-community/gpt2", AutoModelForCausalLM),
    ],
)
def test_a_generator_has_the_layers_and_heads_of_its_name(stand_ins, name, kind):
    stand_ins.hub_model(name, stand_in_of(name, "generator"))
    make_all(stand_ins)
    folder = stand_ins.local_dir / name
    config = kind.from_pretrained(folder).config
    bart = name.endswith("bart-base")
    assert (config.encoder_layers if bart else config.n_layer) == (6 if bart else 12)
    assert config.num_attention_heads == 12
    assert AutoTokenizer.from_pretrained(folder).eos_token_id is not None


def test_a_translator_translates(stand_ins):
    model = stand_in_of("Helsinki-NLP/opus-mt-de-fr", "translator", languages=("de", "fr"))
    place = stand_ins.model("models/opus-mt-de-fr", model)
    make_all(stand_ins)
    assert read_json(f"{place}/config.json")["encoder_layers"] == 6
    translator = load_translator([place], languages=("de", "fr"))
    assert len(translator.translate(["Ein Vogel singt."], SearchOptions(beam=1))) == 1


def test_a_checkpoint_is_a_metric_with_its_encoder(stand_ins):
    place = small_checkpoint("Unbabel/eamt22-cometinho-da", ("en", "de"), stand_ins)
    make_all(stand_ins)
    metric = load_metric(place)
    assert metric.network.encoder.config.num_hidden_layers == 12


def test_an_unknown_model_is_a_clear_error():
    with pytest.raises(InputError, match="someone/else: no such folder here, and its structure"):
        stand_in_of("someone/else", "encoder")
