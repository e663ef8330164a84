"""The subject `marian` of the runtime's benchmark: files, workers, and results that do not count."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workflow.running import REPOSITORY
from weebill.benchmarks.runtime import marian_measures, measures
from weebill.benchmarks.runtime.engines import FACTOR, sentences
from weebill.benchmarks.runtime.invented_words import invented_vocabulary
from weebill.benchmarks.runtime.marian_engines import (
    KINDS,
    PYTHONS,
    Files,
    MarianEngine,
    OnText,
    Way,
    short_texts,
    texts,
)
from weebill.kernels.extension import PORTABLE, available
from weebill_runtime.architecture import Architecture, LayerShape

ISA = [*available(), PORTABLE][0]
LAYER = LayerShape(heads=2, head_size=32, feed_forward=64)
SHAPE = Architecture(320, 64, (LAYER, LAYER), (LAYER, LAYER), 2)
ALONE = [kind for kind in KINDS if kind.engine == "fxtranslate"]
# An engine of a package that is not installed; it translates every line to the first word.
FAKE = """
class Translator:
    def __init__(self, model, source, target, shortlist=None):
        if {refused}:
            raise ValueError("a layer is missing")
    def translate(self, line):
        return "aaac"
"""


@pytest.fixture
def quickly(monkeypatch):
    monkeypatch.setattr(measures, "TRIAL", 8)
    monkeypatch.setattr(measures, "BATCHES", (4, 8))
    monkeypatch.setattr(marian_measures, "CHECKED", 20)


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return a function that makes a package fxtranslate for this Python, as the only engine."""

    def made(refused: bool) -> dict[str, Path]:
        (tmp_path / "fxtranslate.py").write_text(FAKE.format(refused=refused))
        about = tmp_path / "fxtranslate-9.8.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: fxtranslate\nVersion: 9.8\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(marian_measures, "KINDS", ALONE)
        return {"fxtranslate": Path(sys.executable)}

    return made


def measured(pythons: dict[str, Path]) -> list:
    return marian_measures.against_marian("small", SHAPE, ISA, 12, 2, pythons)


def test_text_of_invented_words_has_the_given_pieces(tmp_path):
    vocabulary = invented_vocabulary(30_000, tmp_path / "words.spm")
    text = sentences(30_000, 50)
    assert len(vocabulary) == 30_000
    assert vocabulary.encode(vocabulary.decode(text)) == text


@pytest.mark.usefixtures("quickly")
def test_an_engine_with_other_translations_does_not_count(fake, caplog):
    assert measured(fake(refused=False)) == []
    assert (
        "fxtranslate, int8, one sentence a call: not measured: 0% of its translations"
        in caplog.text
    )


@pytest.mark.usefixtures("quickly")
def test_an_engine_that_refuses_is_named_with_its_reason(fake, caplog):
    assert measured(fake(refused=True)) == []
    assert "ValueError: a layer is missing" in caplog.text


@pytest.mark.usefixtures("quickly")
def test_an_engine_without_environment_is_named_with_the_remedy(monkeypatch, caplog):
    monkeypatch.setattr(marian_measures, "KINDS", ALONE)
    assert measured({"fxtranslate": Path("absent")}) == []
    assert "envs/install.sh fxtranslate .venvs/fxtranslate" in caplog.text


@pytest.mark.usefixtures("quickly")
def test_rows_name_the_version(fake, monkeypatch):
    monkeypatch.setattr(marian_measures, "ALIKE", {"int8": 0})
    [row] = measured(fake(refused=False))
    assert row.claim.endswith(
        "against fxtranslate 9.8 (int8, one sentence a call), outputs 2 times as long"
    )
    assert row.unit == "words/s" and row.rounds == 2 and row.ours > 0
    assert "9.8" not in row.key


def test_lengths_are_equal_in_blocks():
    text = texts(300, 300)
    assert [len({len(source) for source in text[first : first + 128]}) for first in (0, 128)] == [
        1,
        1,
    ]
    assert {len(source) for source in short_texts(300, 100)} <= {2, 3, 4, 5}


def test_our_side_translates_text(tmp_path):
    """Our side gets the same calls as an engine, and its outputs have the forced length."""
    files, text = Files(SHAPE, tmp_path, ISA), texts(SHAPE.vocabulary, 10)
    for alone, count in ((True, 10), (False, 1)):
        ours = OnText(Way("int8", alone), SHAPE, ISA, files)
        ours.prepare(text, 4)
        assert len(ours.translate()) == count
    for source, line in zip(text, ours.lines(files.vocabulary.decode(text)), strict=True):
        assert 0 <= len(line.split()) - FACTOR * len(source) < 1


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_engines_translate_as_we_do(tmp_path, kind):
    python = REPOSITORY / PYTHONS[kind.engine]
    if not python.is_file():
        pytest.skip(f"{kind.engine} is not here; `make opponents` makes its environment")
    files, text = Files(SHAPE, tmp_path, ISA), short_texts(SHAPE.vocabulary, 60)
    lines = files.vocabulary.decode(text)
    way = replace(kind.way, precision=kind.alike)
    expected = OnText(way, SHAPE, ISA, files, listed=False).lines(lines)
    with MarianEngine(kind, python, ISA, files, tmp_path) as engine:
        found = engine.lines(lines)
        assert len({*found}) > 10
        assert sum(map(str.__eq__, found, expected)) >= marian_measures.ALIKE[kind.alike] * len(
            lines
        )
        engine.prepare(text, 8)
        assert len(engine.translate()) == (len(text) if kind.way.alone else 1)
