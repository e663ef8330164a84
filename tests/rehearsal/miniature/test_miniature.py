"""The miniature of every configuration is a valid experiment with the structure of the original."""

import json
from pathlib import Path

import pytest

from tests.metric.small import make_encoder
from tests.workflow.running import CONFIGURATIONS
from weebill.configuration.checking import check
from weebill.configuration.zoo_file import load_zoo
from weebill.experiment.student_names import architecture_of, with_students
from weebill.experiment.variants import expand_variants
from weebill.experiment.zoo import attention_blocks, members
from weebill.rehearsal.miniature import miniature
from weebill.rehearsal.miniature.shapes import stand_in_of
from weebill.rehearsal.miniature.stand_ins import CHECKSUM_OF
from weebill.rehearsal.miniature.variants import variant_kind
from weebill.yaml_files import read_yaml

ZOO = load_zoo()
FILES = {path.stem: path for path in CONFIGURATIONS}
TRANSLATIONS = ("wngt20", "wmt21", "multi30k", "pruning", "demo")
MOST_VARIANTS = 40


def whole(name):
    return check(read_yaml(FILES[name]), name, ZOO)


def checked(small):
    """Return a checked miniature, before its stand-ins are made."""

    def filled(values):
        if isinstance(values, dict):
            return {key: filled(value) for key, value in values.items()}
        if isinstance(values, list):
            return [filled(value) for value in values]
        made = isinstance(values, str) and values.startswith(CHECKSUM_OF)
        return "0" * 64 if made else values

    return check(filled(json.loads(json.dumps(small.config))), "miniature", ZOO)


@pytest.mark.parametrize("name", FILES)
def test_every_miniature_is_sound_and_named_after_its_experiment(name):
    config = whole(name)
    small = checked(miniature(config, ZOO))
    assert small["experiment"] == f"rehearsal-{config['experiment']}"
    assert small["rehearses"] == config["experiment"]
    assert small["kind"] == config["kind"]
    assert small["hardware"]["accelerator"] in ("cpu", "rehearsal")


@pytest.mark.parametrize("name", FILES)
def test_what_comes_in_many_comes_twice_at_most(name):
    def counts(config):
        distillation = config.get("distillation", {})
        translation = distillation.get("translation", distillation)
        trained = config.get("reference") or config.get("teacher") or {}
        return {
            "test sets": len(config.get("test_sets", ())),
            "shards": translation.get("shards", 0),
            "members": trained.get("members", 0),
            "language pairs": len(distillation.get("pairs", ())),
            "texts": len(config.get("texts", ())),
        }

    config = whole(name)
    small = counts(checked(miniature(config, ZOO)))
    assert small == {key: min(count, 2) for key, count in counts(config).items()}


def test_there_are_experiments_with_more_than_two_of_each():
    """Else the test above would compare nothing."""
    judged, translated = whole("cometinho"), whole("wngt20")
    assert min(len(judged["test_sets"]), len(judged["distillation"]["pairs"])) > 2
    assert min(judged["reference"]["members"], translated["distillation"]["shards"]) > 2


@pytest.mark.parametrize("name", ["wngt20", "cometinho", "textgen"])
def test_it_is_a_function_of_the_configuration(name):
    first, second = (miniature(whole(name), ZOO) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", TRANSLATIONS)
def test_each_kind_of_variant_is_there_once(name):
    config = whole(name)
    zoo = with_students(ZOO, config["students"])
    small = checked(miniature(config, ZOO))
    every, few = (
        {variant_kind(one, config, zoo) for one in expand_variants(one_config)}
        for one_config in (config, small)
    )
    assert every == few
    assert len(expand_variants(small)) <= min(MOST_VARIANTS, len(expand_variants(config)))


@pytest.mark.parametrize("name", TRANSLATIONS)
def test_architectures_keep_heads_layers_and_sharing(name):
    small = checked(miniature(whole(name), ZOO))
    for architecture, entry in small["architectures"].items():
        original = ZOO[architecture]
        for one, other in zip(members(entry)[:1], members(original)[:1], strict=True):
            assert attention_blocks(one) == attention_blocks(other)
        for key in ("decoder", "decoder_tied", "encoder_layers", "heads"):
            assert entry[key] == original[key]
        assert (entry["attention_width"] < entry["embedding"]) == (
            original["attention_width"] < original["embedding"]
        )


def test_full_keeps_every_variant_and_judged_set():
    config = whole("wngt20")
    small = checked(miniature(config, ZOO, full=True))
    assert expand_variants(small) == expand_variants(config)
    judged = whole("cometinho")
    assert list(checked(miniature(judged, ZOO, full=True))["test_sets"]) == list(
        judged["test_sets"]
    )


def test_a_student_of_another_text_comes_with_the_one_that_it_is_compared_with():
    small = checked(miniature(whole("wmt21"), ZOO))
    others = [name for name in small["students"] if "@" in name]
    assert len(others) == 1
    assert architecture_of(others[0]) in small["students"]


@pytest.mark.parametrize("name", TRANSLATIONS)
def test_few_updates_change_what_a_translator_writes(name):
    """Weights that hardly differ from random ones may translate everything by nothing."""
    small = miniature(whole(name), ZOO).config
    for training in (small["teacher"]["training"], small["training"]):
        assert training["learning_rate"] >= 0.003
        assert training["smoothing"] == 0 or training["smoothing"] * training["updates"] > 1


def test_texts_are_short_and_never_shared():
    small = miniature(whole("wmt21"), ZOO)
    texts = {path: text.splitlines() for path, text in small.stand_ins.files.items()}
    assert all(16 <= len(lines) <= 300 for lines in texts.values())
    held_out = {line for path, lines in texts.items() if "test_sets" in str(path) for line in lines}
    trained = {line for path, lines in texts.items() if "corpora" in str(path) for line in lines}
    assert held_out and trained and not held_out & trained


def test_translators_of_the_hub_have_stand_ins_where_the_workflow_fetches_them():
    config = whole("cometinho")
    model = {"hugging_face": "Helsinki-NLP/opus-mt-en-de", "revision": 40 * "a"}
    config["distillation"]["pairs"]["en-de"]["translations"]["direct"]["models"] = [model]
    small = miniature(config, ZOO)
    pairs = checked(small)["distillation"]["pairs"]["en-de"]
    assert pairs["translations"]["direct"]["models"] == [model]
    made = small.stand_ins.models[small.stand_ins.local_dir / model["hugging_face"]]
    assert (made.use, made.family, made.layers) == ("translator", "marian", 6)
    assert made.languages == ("en", "de")


def test_the_class_of_a_folder_follows_from_its_pieces(tmp_path):
    for family in ("MiniLM", "BERT"):
        folder = make_encoder(tmp_path / family, family)
        made = stand_in_of(str(folder), "encoder")
        assert (made.family, made.layers, made.heads) == (family, 3, 4)


def test_a_student_from_minilm():
    config = whole("cometinho")
    name = "models/Multilingual-MiniLM-L12-H384"
    config["encoders"]["distil"] = {"by": "hugging_face", "hugging_face": name}
    small = miniature(config, ZOO)
    place = checked(small)["encoders"]["distil"]["hugging_face"]
    made = small.stand_ins.models[Path(place)]
    assert (made.family, made.layers, made.heads) == ("MiniLM", 12, 12)
