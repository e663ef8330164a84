"""Students for Firefox, read with the formulas of its engine."""

import gzip
import json
import re

import pytest
import yaml

from tests.runtime.conftest import network, quantized
from tests.runtime.exports.firefox_students import (
    MODEL,
    PIECES,
    SOURCE_PIECES,
    STUDENTS,
    shortlist_of,
    student,
    vocabulary_of,
    write,
)
from tests.runtime.exports.marian_formulas import FirefoxFormulas, check_formulas
from tests.runtime.exports.students import texts
from weebill.configuration.zoo_file import load_zoo
from weebill.errors import InputError
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.runtime.exports.marian import configuration, int8_tensors
from weebill.runtime.exports.marian.binary import write_bin
from weebill.runtime.exports.marian.firefox import export, import_student
from weebill.translation.model.network import Translator
from weebill_runtime.architecture import Architecture

# Mozilla's records of published students: parameters including activation scales (one per matrix, and one for a
# shared table); bytes of the file; and bytes of the options at its end.
PUBLISHED = {
    "firefox.tiny": (16_907_062, 17_140_899, 1187),  # bg-en
    "firefox.base": (42_686_774, 42_992_955, 1339),  # de-en
    "firefox.base-memory": (31_248_966, 31_561_787, 1339),  # en-de
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_zoo_has_the_shapes_of_published_students(name):
    shape = Architecture.from_zoo(load_zoo()[name])
    scales = len(list(configuration.linear_maps(shape)))
    assert shape.parameters + scales == PUBLISHED[name][0]


def test_a_student_has_the_size_of_a_published_one(tmp_path):
    """All of the file except the text of the options, which is Weebill's, is as large as in Mozilla's file."""
    name = "firefox.tiny"
    model = Translator(Architecture.from_zoo(load_zoo()[name]))
    scales = {name: 1.0 for name, _ in quantizable_linears(model)}
    model = quantize_model(model, "int8", scales, mode="empty")
    tensors = int8_tensors.stored_tensors(int8_tensors.student_of(model, model.architecture))
    write_bin(tmp_path / MODEL, tensors, {"type": "transformer"})
    options = 256  # bytes of a short text with padding
    _, size, text = PUBLISHED[name]
    assert (tmp_path / MODEL).stat().st_size - options == size - text


@pytest.mark.parametrize("name", STUDENTS)
def test_firefox_would_compute_the_same(tmp_path, vocabularies, name):
    """Every tensor is read by name, at its place in the format, and the scores agree."""
    model = student(name)
    write(model, vocabulary_of(name, vocabularies), tmp_path / "firefox")
    theirs = FirefoxFormulas(tmp_path / "firefox" / MODEL)
    check_formulas(theirs, model, epsilon=1e-5, rtol=1e-7, atol=0.03)


def test_files_have_the_names_of_firefox(tmp_path, vocabularies):
    """The configuration and the records name each file; files may be compressed by gzip, as Mozilla's are."""
    name = "ssru, two vocabularies"
    lists = shortlist_of(vocabularies["two"], SOURCE_PIECES)
    write(student(name), vocabularies["two"], tmp_path / "one", lists)
    settings = yaml.safe_load((tmp_path / "one/config.intgemm8bitalpha.yml").read_text())
    vocabs = ["srcvocab.ende.spm", "trgvocab.ende.spm"]
    assert (settings["models"], settings["vocabs"]) == ([MODEL], vocabs)
    assert settings["shortlist"] == ["lex.50.50.ende.s2t.bin", False]
    records = {
        one["fileType"]: one for one in json.loads((tmp_path / "one/records.json").read_text())
    }
    assert records.keys() == {"model", "lex", "srcvocab", "trgvocab"}
    for record in records.values():
        path = tmp_path / "one" / record["name"]
        assert record["attachment"]["size"] == path.stat().st_size
        packed = tmp_path / "packed" / f"{path.name}.gz"
        packed.parent.mkdir(exist_ok=True)
        packed.write_bytes(gzip.compress(path.read_bytes()))
    for folder in ("one", "packed"):
        import_student(
            tmp_path / folder, tmp_path / f"{folder}.model", shortlist=tmp_path / folder / "lists"
        )
    for file in ("model.safetensors", "vocab.spm", "source.spm"):
        assert (tmp_path / "one.model" / file).read_bytes() == (
            tmp_path / "packed.model" / file
        ).read_bytes()


@pytest.mark.parametrize("grid, pad, message", [
    ("int8", False, "--pad"),
    ("log4", True, "embedding of this student is log4"),
    (None, True, "embedding of this student is float32"),
    ("int8_rowwise", True, "is int8_rowwise; quantize it by `quantization: {int8: {}}`"),
])  # fmt: skip
def test_students_that_firefox_cannot_hold_are_refused(tmp_path, vocabularies, grid, pad, message):
    model = network(pieces=PIECES)
    model = quantized(model, grid, texts=texts(9)) if grid else model
    with pytest.raises(InputError, match=re.escape(message)):
        write(model, vocabularies["one"], tmp_path / "firefox", pad=pad)
    assert not (tmp_path / "firefox").exists()


@pytest.mark.parametrize("change, message", [
    ({"width": 32, "head": 8}, "an embedding width that is a multiple of 64, and this student's is 32"),
    ({"pieces": 60}, "a number of pieces that is a multiple of 8, and this student's is 60"),
])  # fmt: skip
def test_sizes_that_its_products_cannot_take_are_refused(tmp_path, vocabularies, change, message):
    model = network(**{"pieces": PIECES, **change})
    model = quantized(model, "int8", texts=[[2, 3, 0]])
    with pytest.raises(InputError, match=message):
        write(model, vocabularies["one"], tmp_path / "firefox")


def test_languages_are_wanted_if_the_vocabulary_records_none(tmp_path, vocabularies):
    with pytest.raises(InputError, match="--languages en de"):
        write(student("ssru"), vocabularies["one"], tmp_path / "firefox", languages=None)


def test_a_student_without_a_guided_head_is_warned_of(tmp_path, vocabularies, caplog):
    model = student("ssru")
    write(model, vocabularies["one"], tmp_path / "one")
    assert "Firefox places tags by the first head" in caplog.text
    caplog.clear()
    model.guided = True
    write(model, vocabularies["one"], tmp_path / "two")
    assert not caplog.text


@pytest.mark.parametrize("code", ["", "e/n", "../x", "en\n", "[en]"])
def test_codes_that_names_of_files_cannot_hold_are_refused(tmp_path, vocabularies, code):
    model = student("ssru")
    with pytest.raises(InputError, match="expected a language code"):
        export(model, vocabularies["one"], tmp_path / "out", languages=(code, "de"), pad=True)
    assert not list(tmp_path.iterdir())
