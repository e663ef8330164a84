"""Metric experiments: mistakes in the configuration, and their error lines."""

import pytest

from tests.configuration.changes import refused, with_key
from tests.metric.small import make_encoder
from tests.small_metric_experiment import SMALL, TEST
from weebill.configuration.checking import check, estimate, missing_files, unfit_models
from weebill.configuration.fetching import remote_sources
from weebill.corpus.sources import Places
from weebill.files import write_json
from weebill.rehearsal.making.translators import make_m2m, make_marian

COMMIT = 40 * "a"
ATTENTIVE = {
    "by": "attention-distillation",
    "teacher": "small",
    "layers": 1,
    "heads": 2,
    "width": 4,
    "intermediate": 8,
}
DIRECT = ("distillation", "pairs", "en-de", "translations", "direct")


def changed(path, value):
    """Return the experiment with one key set (None removes it)."""
    return with_key(SMALL, path, value)


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("reference", "encoder"), "smal", "reference.encoder: no encoder 'smal' in encoders; did you mean 'small'?"),
        (("reference", "checkpoint"), "c.ckpt", "reference.judgements: found beside checkpoint, expected one"),
        (("reference",), {"checkpoint": "c.ckpt", "encoder": "small"}, "reference.encoder: is made here"),
        (("reference",), {"checkpoint": "c.ckpt", "encoder": "smal"}, "reference.encoder: no encoder 'smal'"),
        (
            ("test_sets",),
            {name: {**TEST, "paper": "hi-bn"} for name in ("old", "new")},
            "test_sets.new.paper: found 'hi-bn', which test_sets.old has too, expected one test set a column",
        ),
        (("test_sets", "news", "references"), False, "news.references: found false, but the metric of reference"),
        (
            ("evaluation",),
            {"speed": {"sources": "s", "systems": ["t"]}},
            "evaluation.speed.references: missing, but the metric of distillation.training reads references",
        ),
        (("reference", "judgements"), None, "reference.judgements: missing, expected it to train a reference"),
        (("texts",), None, "texts: missing, expected files of text to pre-train the encoder 'small' on"),
        (("reference", "training"), {"kind": "regresion_metric"}, "training.kind: found 'regresion_metric'"),
        (("encoders", "small", "heads"), 3, "encoders.small.width: found 8, expected a multiple of its 3 heads"),
        (
            ("encoders", "like"),
            {**ATTENTIVE, "teacher": "smal"},
            "encoders.like.teacher: no encoder 'smal' in encoders; did you mean 'small'?",
        ),
        (
            ("encoders", "like"),
            {**ATTENTIVE, "teacher": "like"},
            "encoders.like.teacher: 'like' is such a student itself, expected another one",
        ),
        (
            ("encoders", "like"),
            {**ATTENTIVE, "heads": 4},
            "encoders.like.heads: found 4, expected the 2 of the teacher 'small'",
        ),
        (
            ("encoders", "like"),
            {**ATTENTIVE, "positions": 300},
            "encoders.like.positions: found 300, expected at most the 258 of 'small'",
        ),
        (
            ("encoders", "like"),
            {**ATTENTIVE, "mask_share": 0.1},
            "encoders.like.mask_share: unknown key",
        ),
        (
            ("distillation", "other_encoders"),
            ["smal"],
            "distillation.other_encoders[0]: no encoder 'smal' in encoders; did you mean 'small'?",
        ),
        (
            ("distillation", "other_encoders"),
            ["xlmr", "small"],
            "distillation.other_encoders[1]: found 'small' again, expected each encoder once",
        ),
        (("pruning", "layers"), [1, 3], "pruning.layers[1]: found 3, expected less than 3, the encoder's of 'small'"),
        (("pruning", "neurons"), [0.01], "pruning.neurons[0]: found shares that come to no head and no neuron of"),
        (("pruning", "heads"), [1], "pruning.heads[0]: found 1, expected less than 1"),
        (("pruning", "recipe", 0, "layers"), 4, "pruning.recipe[0].layers: found 4, expected less than 3"),
        (("pruning", "recipe", 0, "stack"), "decoder", "pruning.recipe[0].stack: found decoder, expected encoder"),
        (("pruning", "recipe", 0, "reset_to"), 4, "pruning.recipe[0].reset_to: unknown key, expected one of method"),
        (("pruning", "recipe", 0, "method"), "movement", "found 'movement', expected one of one-shot, depth"),
        (("pruning", "recipe", 1, "criterion"), "confidence", "pruning.recipe[1].criterion: found confidence with"),
        (("pruning", "recipe"), {"heads": 0.5}, "found keys with values, expected a list of methods such as {met"),
        (("pruning", "recipes"), {"a": [{"method": "depth", "layers": 4}]}, "recipes.a[0].layers: found 4"),
        (("pruning", "recipes"), {"pruned": [{"method": "depth"}]}, "recipes.pruned: is the name of a metric"),
        (
            ("pruning", "recipes"),
            {"without-1-top-layers": [{"method": "depth"}]},
            "pruning.recipes.without-1-top-layers: is the name of a metric",
        ),
        (("test_sets", "news", "scores"), {"without-1-top-layers": "x"}, "is the name of a metric that is measured"),
        (
            ("pruning", "recipes"),
            {"BERTScore": [{"method": "depth"}]},
            "metrics.BERTScore: is the name of a metric that is measured here, expected another",
        ),
        (("pruning", "top_layers"), [1], "pruning.top_layers: unknown key, expected layers"),
        (("pruning", "feed_forward"), [0.75], "unknown key, expected neurons, the share of each layer's that is r"),
        (("distillation", "pairs", "en-de", "table"), "t", "distillation.pairs.en-de: expected a table, or both"),
        (("distillation", "pairs", "en-de", "target"), "a.en", "en-de.target: found 'a.en' as source too"),
        (("distillation", "pairs", "en-de", "target"), None, "distillation.pairs.en-de: expected a table, or both"),
        (
            ("distillation", "pairs", "en-de", "translations", "direct"),
            {"by": "training", "architecture": "tinny"},
            "translators.rows: missing, expected how many pairs 'direct' is trained and validated by",
        ),
        (
            ("distillation", "pairs", "en-de"),
            {**SMALL["distillation"]["pairs"]["en-de"], "rows": 100, "translators": {"rows": 80, "validation": 20}},
            "en-de.rows: found 100, expected more than the 100 from which translators learn, or none is left",
        ),
        (
            ("distillation", "pairs", "en-de", "translations", "direct", "languages"),
            ["en"],
            "expected the codes of all languages on the way, one more than there are models",
        ),
        (("test_sets", "news", "scores"), {"BLEU": "x"}, "scores.BLEU: is the name of a metric that is measured"),
        (("metrics", "BERTScore", "encoder"), "smal", "metrics.BERTScore.encoder: no encoder 'smal' in encoders"),
        (("metrics", "BERTScore", "layer"), 4, "metrics.BERTScore.layer: found 4, expected one of its 3 layers"),
        (("metrics", "BLEU"), {"by": "bleurt", "encoder": "xlmr"}, "metrics.BLEU: is the name of a metric"),
        (("metrics", "B"), {"by": "bleurt", "encoder": "small"}, "metrics.B.encoder: is made here, expected a"),
        (("test_sets", "news", "scores"), {"BERTScore": "x"}, "scores.BERTScore: is the name of a metric"),
        (("test_sets", "development"), TEST, "test_sets.development: is what pruning calls its own set"),
        (("test_sets", "news", "paper"), "de-en_new", "test_sets.news.paper: found 'de-en_new', expected a column"),
        (("encoders", "xlmr", "layers"), 3, "encoders.xlmr.layers: unknown key"),
        (("pruning", "heads"), "x", "pruning.heads: found 'x', expected a list"),
        (
            (*DIRECT, "models"),
            ["m", {"hugging_face": "models/opus/en-de", "revision": COMMIT}],
            "direct.models[1].hugging_face: found 'models/opus/en-de' beside revision, expected OWNER/MODEL",
        ),
        (
            (*DIRECT, "models"),
            [{"hugging_face": "Helsinki-NLP/opus-mt-en-de", "revision": "main"}],
            "direct.models[0].revision: found 'main', expected a commit of 40 hexadecimal digits",
        ),
        (
            (*DIRECT, "models"),
            [{"hugging_face": "Helsinki-NLP/opus-mt-en-de"}],
            "direct.models[0].revision: missing, expected a commit of 40 hexadecimal digits",
        ),
        (
            ("encoders", "xlmr", "revision"),
            COMMIT,
            "encoders.xlmr.hugging_face: found 'folder' beside revision, expected OWNER/MODEL as on the hub",
        ),
        ((*DIRECT, "models"), ["m"] * 4, "translations.direct.models: found a list, expected at most 3"),
    ],
)  # fmt: skip
def test_mistakes(path, value, line):
    assert line in "\n".join(refused(changed(path, value)))


def test_int8_is_of_processors():
    config = changed(("evaluation",), {"precision": "int8"})
    check(config, "trial.yaml")
    [line] = refused({**config, "hardware": {"accelerator": "gpu"}})
    assert line.startswith("evaluation.precision: found int8, which processors compute")


def test_what_is_missing():
    found = [line.split(": ")[0] for line in missing_files(check(SMALL, "trial.yaml"))]
    assert found == [
        "texts[0]",
        "encoders.xlmr.hugging_face",
        "pruning.development.table",
        "reference.judgements[0].table",
        "pruning.judgements[0].table",
        "test_sets.news.table",
        "test_sets.news.scores.BLEURT",
        "distillation.pairs.en-de.source",
        "distillation.pairs.en-de.target",
        "distillation.pairs.en-de.translations.direct.models[0]",
    ]


def test_translators_of_the_hub_are_fetched_and_not_looked_for(tmp_path):
    model = {"hugging_face": "Helsinki-NLP/opus-mt-en-fr", "revision": COMMIT}
    config = check(changed((*DIRECT, "models"), [model, "models/fr-de"]), "trial.yaml")
    [*_, line] = missing_files(config)
    assert line == (
        "distillation.pairs.en-de.translations.direct.models[1]: no such file or folder: models/fr-de; put it there "
        "or change the path, or write {hugging_face: NAME, revision: COMMIT} for a model of the hub"
    )
    make_marian(tmp_path / model["hugging_face"])
    found, unknown = remote_sources(config, Places(str(tmp_path)))
    assert not unknown
    address = f"https://huggingface.co/{model['hugging_face']}/resolve/{COMMIT}/model.safetensors"
    assert address in [source.place for source in found]


def test_translators_that_cannot_translate_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_marian(tmp_path / "m")
    make_m2m(tmp_path / "many")
    make_m2m(tmp_path / "pickled")
    (tmp_path / "pickled/model.safetensors").rename(tmp_path / "pickled/pytorch_model.bin")
    direct = "distillation.pairs.en-de.translations.direct.models"

    def unfit(models, **more):
        return unfit_models(
            check(changed(DIRECT, {"by": "models", "models": models, **more}), "trial.yaml")
        )

    assert unfit(["m"]) == unfit(["many"]) == unfit(["m", "m"]) == []
    assert unfit(["many", "m"], languages=["en", "fr", "de"]) == []
    [line] = unfit(["m", "many"])
    assert line.startswith(f"{direct}[1]: many: a model of many languages; tell it those of input")
    [line] = unfit(["m", "many"], languages=["en", "fr", "tlh"])
    assert line.startswith(f"{direct}[1]: many: its tokenizer knows no language 'tlh'")
    [line] = unfit(["pickled"])
    assert line.startswith(f"{direct}[0]: pickled: has no model.safetensors or ")


def test_tables_without_a_column_are_named_before_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = check(SMALL, "trial.yaml")
    heading = ["system", "seg_id", "source", "hypothesis", "reference", "da"]

    def unfit(*columns):
        (tmp_path / "da.tsv").write_text("\t".join(columns) + "\n")
        return unfit_models(config)

    assert unfit(*heading) == unfit_models(check(SMALL, "trial.yaml")) == []
    wanted = [
        f"{key}: da.tsv: no column 'da'"
        for key in ("reference.judgements[0]", "pruning.judgements[0]", "pruning.development")
    ]
    assert unfit(*heading[:5], "score") == [*wanted, "test_sets.news: da.tsv: no column 'da'"]
    found = "da.tsv: no column 'reference'; name it so, or set references: false"
    assert unfit(*heading[:4], "da") == [
        f"pruning.development: {found}",
        f"test_sets.news: {found}",
    ]
    assert "test_sets.news: da.tsv: no column 'system', which tells" in "".join(unfit(*heading[1:]))
    assert len(unfit(*heading, "da")) == 4


def test_files_of_unlike_lengths_are_named_before_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    speed = {"sources": "src", "references": "ref", "systems": ["one"]}
    config = check(changed(("evaluation",), {"speed": speed}), "trial.yaml")
    heading = "system\tseg_id\tsource\thypothesis\treference\tda\n"
    (tmp_path / "da.tsv").write_text(heading + "A\t1\ts\th\tr\t1\n" * 2)
    for name in ("src", "ref", "one", "bleurt.txt"):
        (tmp_path / name).write_text("1\n2\n")
    assert unfit_models(config) == []
    for name in ("one", "bleurt.txt"):
        (tmp_path / name).write_text("1\n")
    remedy = "give one line per segment"
    assert unfit_models(config) == [
        "test_sets.news: numbers of lines differ: da.tsv, below its headings, has 2, bleurt.txt has 1; "
        + remedy,
        "evaluation.speed: numbers of lines differ: src has 2, one has 1, ref has 2; " + remedy,
    ]


def test_the_estimate_grows_with_updates():
    few, many = (
        estimate(check(changed(("encoders", "small", "updates"), n), "trial.yaml"))
        for n in (1000, 2000)
    )
    assert many.hours["encoder small"] == pytest.approx(2 * few.hours["encoder small"])
    assert few.lines("results/trial", 10**12)


def test_encoders_that_cannot_be_trained_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_encoder(tmp_path / "folder", "MiniLM")

    def unfit(**hyperparameters):
        distillation = {
            **SMALL["distillation"],
            "encoder": "xlmr",
            "training": {"hyperparameters": hyperparameters},
        }
        return unfit_models(check({**SMALL, "distillation": distillation}, "trial.yaml"))

    assert unfit() == unfit(encoder_model="MiniLM") == []
    [line] = unfit(encoder_model="BERT")
    assert line.startswith("distillation.encoder: encoder_model: found 'BERT', but folder holds an")
    write_json(tmp_path / "folder/config.json", {"model_type": "deberta"})
    [line] = unfit()
    assert line.startswith("distillation.encoder: folder/config.json: model_type is 'deberta'")
