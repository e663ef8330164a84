"""Experiments of the kind `generation`: contradictions, files, and the reference page of keys."""

import json
import re
from pathlib import Path

import pytest
from safetensors.torch import save_file

from tests.configuration.changes import refused, with_key
from tests.generation.small import article
from weebill.configuration.checking import check, estimate, unfit_models
from weebill.configuration.generation import local_paths, weights_of
from weebill.configuration.schema import ConfigurationError
from weebill.experiment.pipelines import variants_of
from weebill.generation.train_from_scratch import SPECIAL, Shape, new_model, train_tokenizer
from weebill.yaml_files import read_yaml

CONFIG = Path(__file__).parents[2] / "config"
SMALL = read_yaml(CONFIG / "generation-small.yaml")
OF_OTHERS = {"by": "hugging_face", "data": "wikitext", "hugging_face": "a", "prefix": "summarize: "}
NOTHING = {"method": "movement", "heads": 0, "neurons": 0, "training": {"epochs": 1}}


def changed(path: str, value) -> dict:
    """Return the small experiment with one key set (None removes it)."""
    return with_key(SMALL, [int(p) if p.isdigit() else p for p in path.split(".")], value)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("data.news.train.0", {"sha256": "0" * 64}, "data.news.train[0]: expected one of path, name, folder"),
        ("data.news.train.0", {"name": "a/b"}, "data.news.train[0].revision: missing, expected the commit"),
        ("data.news.train.0", {"path": "https://a/b.jsonl"}, "data.news.train[0].sha256: missing"),
        ("data.news.train.0", {"path": "ftp://a/b", "sha256": "0" * 64}, "train[0].path: found 'ftp://a/b'"),
        ("data.news.train.0", {"path": "a.jsonl", "split": "test"}, "train[0].split: found beside path"),
        ("data.news.train.0", {"path": "a.jsonl", "share": 0.5, "take": 9}, "train[0].take: found beside share"),
        ("data.news.train.0", {"path": "a.jsonl", "share": 0}, "data.news.train[0].share: found 0, expected"),
        ("data.news.fields", {"text": "body"}, "data.news.fields.text: unknown, summarization reads article and"),
        ("data.news.test_share", 0, "data.news.test_share: found 0, expected a share, or files of test"),
        ("data.news.test_share", 0.95, "data.news.test_share: leaves no text to train on"),
        ("models.bart.data", "new", "models.bart.data: no data 'new' in data; did you mean 'news'?"),
        ("models.bart.heads", 3, "models.bart.width: found 128, expected a multiple of its 3 heads"),
        ("models.bart.data", "wikitext", "models.bart.architecture: found bart, which does summarization"),
        ("models.bart.max_source", 300, "models.bart.max_source: found 300, expected at most its 128 positions"),
        ("models.bart.passage", 129, "models.bart.passage: found 129, expected at most its 128 positions"),
        ("models.bart.training.epochs", 3, "models.bart.training: expected either epochs or updates"),
        ("steps.pruned.training.updates", None, "steps.pruned.training: expected either epochs or updates"),
        ("steps.pruned", NOTHING, "steps.pruned: removes neither heads nor neurons"),
        ("steps.pruned.prune_updates", 3, "steps.pruned.prune_updates: unknown key, expected one of method, heads"),
        ("steps.pruned.method", "prune", "steps.pruned.method: found 'prune', expected movement"),
        ("steps.distilled.layers", [2, 0], "steps.distilled.layers: found [2, 0], expected them to ascend"),
        ("steps.distilled.layers", [0, 4], "'distilled' takes layers [0, 4], but the model has 4 by then"),
        ("pipelines.0.steps.1", "distiled", "pipelines[0].steps[1]: no step 'distiled' in steps; did you mean"),
        ("pipelines.0.model", "brat", "pipelines[0].model: no model 'brat' in models; did you mean 'bart'?"),
        ("pipelines.1.steps", ["int8", "pruned"], "pipelines[1].steps[0]: 'int8' makes int8 weights, expected it"),
        ("evaluation.perplexity.stride", 257, "evaluation.perplexity.stride: found 257, expected at most the window"),
        ("evaluation.perplexity.window", 512, "found 512, expected at most the 256 positions of 'gpt2'"),
        ("evaluation.speed.given", 200, "found 264 with those given, expected at most the 256 positions of 'gpt2'"),
        ("steps.pruned.method", "prun", "steps.pruned"),
        ("models.gpt2", OF_OTHERS, "models.gpt2.prefix: found for language-modelling, expected none"),
        ("steps.fine-tuned.layers", 3, "steps.fine-tuned.layers: unknown key"),
    ],
)  # fmt: skip
def test_contradictions(path, value, message):
    found = refused(changed(path, value))
    assert any(message in line for line in found), found


def test_positions_of_a_folders_model_are_known(tmp_path):
    for name, described in {
        "bart": {"model_type": "bart", "max_position_embeddings": 100},
        "t5": {"model_type": "t5", "n_positions": 100},  # relative positions: no limit
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(described))
        config = changed(
            "models.bart",
            {"by": "hugging_face", "hugging_face": str(tmp_path / name), "data": "news"},
        )
        config = with_key(config, ["evaluation", "search", "max_tokens"], 128)
        try:
            found = check(config, "x.yaml") and []
        except ConfigurationError as refusal:
            found = [
                line for line in str(refusal).splitlines() if "100 positions of 'bart'" in line
            ]
        assert bool(found) == (name == "bart")


def test_every_experiment_of_the_kind_is_sound_and_complete_ones_stay():
    for name in ("generation-small", "textgen"):
        config = check(read_yaml(CONFIG / f"{name}.yaml"), name)
        assert check(config, name) == config


def test_textgen_has_what_the_papers_rows_need_for_both_models():
    """Quantization after training alone (§4), and students of 3 and 4 layers, fewer than the paper's 6 (§4.4)."""
    config = check(read_yaml(CONFIG / "textgen.yaml"), "textgen")
    steps = config["steps"]
    assert len(config["models"]) == 2
    for model in config["models"]:
        paths = [variant.split("/")[1:] for variant in variants_of(config, model)]
        assert ["fine-tune", "post-training"] in [[steps[n]["method"] for n in p] for p in paths]
        lasts = [steps[path[-1]] for path in paths if len(path) == 2]
        layers = [step["layers"] for step in lasts if step["method"] == "distil"]
        counts = {len(one) if isinstance(one, list) else one for one in layers}
        assert counts == {3, 4, 6}


def test_local_files_and_the_estimate():
    config = check(SMALL, "x.yaml")
    paths = dict(local_paths(config))
    assert paths["data.news.train[0].path"].endswith("bbc_news_summary.jsonl")
    found = estimate(config)
    assert found.total_disk > 0 and not found.unknown
    assert set(found.hours) == {"bart", "gpt2", "quality of variants"}
    assert check(read_yaml(CONFIG / "textgen.yaml"), "t")["models"]["gpt2"]["max_target"] == 128


def test_weights_are_those_of_the_built_models():
    for architecture in ("bart", "gpt2"):
        shape = Shape(architecture, layers=3, width=64, heads=4, feed_forward=200, vocabulary=300)
        tokenizer = train_tokenizer([article(1)["article"]], 300, SPECIAL[architecture], 40)
        model = new_model(shape, tokenizer, 1)
        matrices = {
            id(p): p.numel()
            for name, p in model.named_parameters()
            if p.dim() == 2 and not re.search("position|wpe", name)
        }
        told = weights_of({**shape.__dict__, "vocabulary": len(tokenizer)})
        assert told == sum(matrices.values())


def test_a_local_model_whose_vocabulary_cannot_be_pruned_is_told_at_the_start(tmp_path):
    """bart-large-cnn (50,264 rows, 50,265 pieces) is accepted; a model whose end of text has no row is not."""
    tokenizer = train_tokenizer([article(n)["article"] for n in range(9)], 300, SPECIAL["bart"], 64)
    tokenizer.add_special_tokens({"mask_token": "<late>"})
    tokenizer.save_pretrained(tmp_path / "model")
    pieces = {"vocab_size": len(tokenizer) - 1, "eos_token_id": tokenizer.eos_token_id}
    (tmp_path / "model/config.json").write_text(json.dumps(pieces))
    save_file({}, tmp_path / "model/model.safetensors")
    model = {"by": "hugging_face", "hugging_face": str(tmp_path / "model"), "data": "news"}
    config = check(
        {
            **changed("models.cnn", model),
            "steps": {**SMALL["steps"], "used-pieces": {"method": "prune-vocabulary"}},
            "pipelines": [{"model": "cnn", "steps": ["fine-tuned", "used-pieces"]}],
        },
        "x.yaml",
    )
    assert unfit_models(config) == []
    (tmp_path / "model/config.json").write_text(json.dumps({**pieces, "vocab_size": 2}))
    [line] = unfit_models(config)
    assert line.startswith(f"models.cnn.hugging_face: {tmp_path}/model: its ")
    assert "piece 2 of the tokenizer" in line and "has 2 rows" in line
    file = tmp_path / "model/tokenizer.json"
    untyped = json.loads(file.read_text())
    del untyped["model"]["type"]  # as in tokenizer files of 2020
    file.write_text(json.dumps(untyped))
    assert "piece 2 of the tokenizer" in unfit_models(config)[0]
    words = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    file.write_text(json.dumps({**untyped, "model": words, "added_tokens": []}))
    assert "no tokenizer.json of unigram or plain BPE" in unfit_models(config)[0]
    config["pipelines"][0]["steps"] = ["fine-tuned"]
    assert unfit_models(config) == []
