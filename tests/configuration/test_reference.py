"""The generated reference is current and complete, and has the layout of a small example."""

import re
from pathlib import Path

import pytest

from weebill.configuration.reference import files, with_tables
from weebill.configuration.schema import SETTINGS
from weebill.configuration.settings_schema import schema_of
from weebill.errors import InputError

CONFIG = Path(__file__).parents[2] / "config"
PAGES = {"translation": "README.md", "metric": "metric.md", "generation": "generation.md"}
# Overrides of a corpus have no sentences: the overridden keys have them.
OVERRIDES = ("CorpusCleaning", "CorpusLanguageId", "CorpusScore", "CorpusScores")
OVERRIDES += ("CorpusTranslation",)


def test_everything_is_fresh():
    stale = [
        path.name
        for path, text in files().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    assert not stale, "run `make reference`"


@pytest.mark.parametrize("kind", SETTINGS)
def test_every_key_has_a_sentence(kind):
    schema = schema_of(SETTINGS[kind], words=True)
    for name, rule in [("", schema), *schema["$defs"].items()]:
        for key, one in rule.get("properties", {}).items():
            chooses = "const" in one and "default" not in one
            if name not in OVERRIDES and not chooses:
                assert one.get("description", "").endswith("."), f"{name}.{key}"


@pytest.mark.parametrize(("kind", "page"), PAGES.items())
def test_every_sentence_stands_in_the_page_of_its_kind(kind, page):
    """The sentence may be in translation's page if translation has the same section."""
    pages = [(CONFIG / name).read_text(encoding="utf-8") for name in (page, "README.md")]
    everywhere = schema_of(SETTINGS["translation"])["$defs"]
    schema = schema_of(SETTINGS[kind], words=True)
    for name, rule in [("", schema), *schema["$defs"].items()]:
        for key, one in rule["properties"].items():
            if name not in (*OVERRIDES, "CorpusRules"):
                text = "".join(pages) if name in everywhere else pages[0]
                told = one.get("description", "").replace("|", "\\|")
                assert told in text, f"{name}.{key}"


def test_every_experiment_is_listed():
    text = (CONFIG.parent / "docs/guides/experiments.md").read_text(encoding="utf-8")
    for path in CONFIG.glob("*.yaml"):
        assert path.name == "models.yaml" or f"`config/{path.name}`" in text


def table(kind: str, places: str) -> list[list[str]]:
    """Return a table's cells, without sentences except for their additions."""
    text = f"# Heading\n<!-- settings: {kind} {places} -->\nold\n<!-- end of settings -->\n"
    _, begin, _, _, *rows, end = with_tables(text).splitlines()
    assert (begin, end) == tuple(text.splitlines()[1::2])
    cells = [row.strip("|").split("|") for row in rows]
    return [[cell.strip() for cell in row[:3]] for row in cells]


def test_rows_of_a_key_and_of_those_below():
    assert table("translation", "shortlist.pairs students") == [
        ["`shortlist.pairs`", "`1000000`", "whole number, at least 1"],
        ["`students`", "", "list: text"],
    ]
    assert table("metric", "vocabulary") == [
        ["`vocabulary`", "`8000`", "whole number, 100 to 250000"]
    ]


def test_rows_of_an_alternative_have_no_path():
    assert table("metric", "metrics.*.bert-score.") == [
        ["`encoder`", "", "text"],
        ["`layer`", "", "whole number, at least 1"],
    ]
    assert table("translation", "corpora.*.files.lines") == [
        ["`lines`", "–", "keys"],
        ["`lines.first`", "`1`", "whole number, at least 1"],
        ["`lines.last`", "–", "whole number, at least 1"],
    ]
    assert table("generation", "data.*.train!") == [["`train`", "", "list: keys"]]
    warmup = ["`training.warmup`", "`500`, at most 0.1 × `updates`", "whole number, at least 0"]
    assert warmup in table("generation", "steps.*.distil.training:")
    learning = ["`training.learning_rate`", "`0.00005`", "number, more than 0"]
    assert learning in table("generation", "steps.*.distil.training:")


def test_each_alternative_has_its_table():
    begin = "<!-- settings: metric metrics.*. -->"
    text = with_tables(f"{begin}\n<!-- end of settings -->\n")
    assert text.splitlines()[:6] == [
        begin,
        "",
        "**bert-score**: F1 of matched states, without idf and rescaling.",
        "",
        "| key | default | value | meaning |",
        "|---|---|---|---|",
    ]
    assert "\n**bleurt**: " in text


@pytest.mark.parametrize("marker", ["metric metricks", "metrics metrics", "metric metrics.*.x."])
def test_a_marker_without_a_key(marker):
    with pytest.raises(InputError, match=f"<!-- settings: {re.escape(marker)} -->: no "):
        with_tables(f"<!-- settings: {marker} -->\n<!-- end of settings -->\n")


def test_keys_of_a_class_are_told_once():
    places = "teacher reverse_teacher"
    text = with_tables(f"<!-- settings: translation {places} -->\n<!-- end of settings -->\n")
    assert text.count("`teacher.language_codes.source`") == 1
    assert "`reverse_teacher.language_codes.source`" not in text
    assert text.count("Its keys: `teacher.language_codes`.") == 1
