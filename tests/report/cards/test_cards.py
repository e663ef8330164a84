"""Model cards have origins and licences of the data, and scores with signatures, in the hub's format."""

from dataclasses import replace

import pytest
import yaml

from tests.report.conftest import SIGNATURE
from tests.report.generation_results import WHOLE, generation_results
from tests.report.metric_results import metric_results
from weebill.corpus.origins import catalogue
from weebill.experiment.origins import FOLDER
from weebill.files import write_json
from weebill.metric.architecture import REFERENCELESS, REGRESSION, Architecture
from weebill.report import noise
from weebill.report.cards import generation, metric, translation
from weebill.report.cards.card import END, install, render
from weebill.report.cards.sources import UNKNOWN, data_sources

PUBLIC = next(iter(catalogue()))
CONFIG = {
    "kind": "translation",
    "corpora": {
        "tatoeba": {"importer": "tatoeba", "pairs": 5},
        "public": {
            "importer": "files",
            "source": str(FOLDER / PUBLIC),
            "target": str(FOLDER / PUBLIC),
        },
        "opus": {"importer": "opus", "name": "News", "version": "v1"},
    },
    "validation": {"importer": "tatoeba", "pairs": 5},
    "test_sets": {"hub": {"importer": "hugging_face", "name": "owner/set", "split": "test"}},
}
LOCK = {
    "corpora.public": [
        {"name": "a", "place": str(FOLDER / PUBLIC), "sha256": "0" * 64, "bytes": 1}
    ],
    "corpora.opus": [
        {
            "name": "News",
            "version": "v1",
            "place": "https://example.org/News.zip",
            "licence": "CC0",
        },
        {"name": "Extra", "place": "https://example.org/Extra.zip"},
    ],
}


@pytest.fixture
def locks(tmp_path):
    write_json(tmp_path / "sources.lock.json", {"sources": LOCK})
    return [str(tmp_path / "sources.lock.json")]


def test_every_source_has_its_licence_or_says_that_it_is_unknown(locks):
    found = {(one.use, one.name): one.licence for one in data_sources(CONFIG, locks)}
    assert found == {
        ("corpora.tatoeba", "Tatoeba, sentences within Weebill"): "CC BY 2.0 FR",
        ("corpora.public", PUBLIC): catalogue()[PUBLIC].licence,
        ("corpora.opus", "News v1"): "CC0",
        ("corpora.opus", "Extra"): UNKNOWN,
        ("validation", "Tatoeba, sentences within Weebill"): "CC BY 2.0 FR",
        ("test_sets.hub", "owner/set"): "that of its card on the hub",
    }


HUB = "https://huggingface.co"
OWN = ["a file of the user's own"]
ADDRESS = "https://example.org/dir/text.jsonl"


@pytest.mark.parametrize(
    ("config", "places"),
    [
        ({"kind": "generation", "data": {"web": {"train": [{"path": ADDRESS}]}}}, [ADDRESS]),
        (
            {"kind": "generation", "data": {"hub": {"train": [{"name": "owner/set"}]}}},
            [f"{HUB}/datasets/owner/set"],
        ),
        (
            {
                "kind": "metric",
                "encoders": {"hub": {"hugging_face": "owner/one"}, "own": {"hugging_face": "own"}},
                "reference": {"checkpoint": "owner/two@1a"},
                "texts": ["own"],
            },
            [*OWN, f"{HUB}/owner/one", *OWN, f"{HUB}/owner/two"],
        ),
        (
            {
                "kind": "translation",
                "published": {"files": {ADDRESS: "0" * 64}},
                "reverse_teacher": {"hugging_face": "owner/back", "revision": "1" * 40},
                "test_sets": {"third": {"importer": "sacrebleu", "name": "wmt21/C"}},
            },
            [f"{HUB}/owner/back", ADDRESS],
        ),
    ],
    ids=["address", "data on the hub", "metric", "translation"],
)
def test_every_kind_of_place_is_shown_with_the_address_that_it_has(
    config, places, tmp_path, monkeypatch
):
    """The hub has data sets below datasets/; a test set of sacreBLEU is not on it, though its name has a slash."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()
    assert [one.place for one in data_sources(config, [])] == places


def test_addresses_that_are_left_out_are_counted():
    text = str(FOLDER / "da/da_wmt17_to-en.tsv")  # made from files of ten folders
    [found] = data_sources({"kind": "metric", "reference": {"table": text}}, [])
    assert found.place.count("https://") == 2 and found.place.endswith(", and 8 more")


def test_a_card_is_read_by_the_hub_and_warns_of_unknown_licences(results, locks):
    results.config = {
        **results.config,
        **CONFIG,
        "seed": 3,
        "test_sets": results.config["test_sets"],
    }
    name = "small/pushy-i6/int8-finetuned"
    card = translation.card_of(results, name, "a")
    text = render(card, results.config, data_sources(CONFIG, locks))
    _, head, body = text.split("---\n", 2)
    fields = yaml.safe_load(head)
    assert (fields["language"], fields["pipeline_tag"]) == (["en", "de"], "translation")
    scores = fields["model-index"][0]["results"]
    assert [one["metrics"][0]["value"] for one in scores] == [38.0, 58.0, 32.0, 52.0]
    assert f"- BLEU: `{SIGNATURE}`" in body
    assert "| first | BLEU | 38.000 | 37.000 to 39.000 |" in body
    assert "**1 of 6 licences are not recorded" in body
    assert "pruned by late-reset, confidence, quantized (int8-finetuned)" in body
    assert "3500 source words per second on one core of Test processor" in body
    assert "echo '…' | weebill translate a" in body


def test_the_speed_of_a_slow_teacher_is_not_rounded_to_none(results):
    results.config = {**results.config, "seed": 3}
    name = "teacher/beam-4/float32"
    slow = [replace(one, words_per_second=0.4) for one in results.speeds if one.variant == name]
    card = translation.card_of(replace(results, speeds=slow), name, "a")
    assert dict(card.facts)["Speed by PyTorch reference"].startswith("0.4 source words per second")


def test_a_card_explains_the_mark_of_a_noisy_time(results):
    results.config = {**results.config, "seed": 3}
    card = translation.card_of(results, "small/pushy-i6/int8-finetuned", "a")
    assert noise.NOTE not in render(card, results.config, [])
    noisy = replace(card, facts=[("Speed", f"9{noise.MARK} words")])
    assert render(noisy, results.config, []).endswith(f"- Speed: 9~ words\n\n{noise.NOTE}\n")


@pytest.mark.parametrize(
    ("kind", "told", "options"),
    [
        (REGRESSION, "its source and a reference translation", "-s source.txt -r reference.txt"),
        (REFERENCELESS, "its source", "-s source.txt"),
    ],
)
@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_card_of_a_metric_asks_for_the_texts_that_it_reads(
    tmp_path, kind, told, options, checkpoint
):
    """A reference metric is in the format of unbabel-comet."""
    found = metric_results(0.121, -0.004)
    found.config = {**found.config, "experiment": "m", "seed": 1}
    if checkpoint:
        (tmp_path / "hparams.yaml").write_text(f"class_identifier: {kind}\n")
    else:
        write_json(tmp_path / "config.json", {"architecture": Architecture(kind).to_dict()})
    card = metric.card_of(found, "pruned", str(tmp_path))
    assert card.scores[0].value == 0.121 and "80" in dict(card.facts)["Parameters"]
    assert card.about.endswith(f"It scores a translation by {told}.")
    assert card.command == f"weebill score --model {tmp_path} {options} -t system.txt"


def test_a_card_of_a_generator_tells_its_steps():
    found = generation_results()
    card = generation.card_of(found, WHOLE, "models/x")
    assert card.command.startswith('weebill.load_int8("models/x")')
    assert {one.metric for one in card.scores} == {"ROUGE-1", "ROUGE-2", "ROUGE-L", "ROUGE-Lsum"}
    assert "from bart by the steps fine-tuned (fine-tune), then distilled (distil)" in card.about
    assert "|  |" not in render(card, found.config, [])


def test_a_card_names_a_function_that_loads_the_model():
    """transformers alone knows only layers of the shape that its configuration gives all of them."""
    results = generation_results()
    for steps, function in {
        "fine-tuned": "AutoModelForSeq2SeqLM.from_pretrained(",
        "fine-tuned/distilled": "AutoModelForSeq2SeqLM.from_pretrained(",
        "fine-tuned/distilled/pruned": "weebill.hugging_face.folder import load_model; load_model(",
        "fine-tuned/distilled/pruned/trained-int8": "; load_model(",
        "fine-tuned/distilled/pruned/trained-int8/int8": "weebill.load_int8(",
    }.items():
        card = generation.card_of(results, f"bart/{steps}", "models/x")
        assert f'{function}"models/x"' in card.command


@pytest.mark.parametrize("notes", ["", "Input: as it is.\n"])
def test_a_card_stands_before_an_export_s_own_notes_however_often_it_is_installed(tmp_path, notes):
    if notes:
        (tmp_path / "README.md").write_text(notes, encoding="utf-8")
    install("---\nlanguage: en\n---\n# First\n", tmp_path)
    install("---\nlanguage: en\n---\n# Second\n", tmp_path)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert text.startswith("---\nlanguage: en\n---\n# Second") and "First" not in text
    assert text.count(END) == 1 and text.count("Input: as it is.") == (1 if notes else 0)
