"""Students for Firefox, read by formulas of its engine, by the engine where it is here, and by our import."""

import gzip
import json
import os
import re
import shutil
import struct
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from tests.runtime.conftest import network, quantized
from tests.runtime.exports.marian_formulas import FirefoxFormulas
from tests.runtime.exports.students import texts
from tests.runtime.exports.test_marian import logits
from tests.runtime.exports.test_marian_engine import ENGINE, engine
from tests.small_models import TEXT, make_vocabulary
from weebill.configuration.zoo_file import load_zoo
from weebill.errors import InputError
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.runtime.exports.marian import configuration, conversion, int8_tensors
from weebill.runtime.exports.marian.binary import write_bin
from weebill.runtime.exports.marian.firefox import export, find, import_student
from weebill.translation.model.network import Translator
from weebill.translation.model.packed_folder import load_any_model
from weebill.translation.search import greedy
from weebill_runtime.architecture import Architecture
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import VocabularyPair

PIECES, SOURCE_PIECES = 64, 66
STUDENTS = {
    "ssru": {},
    "ssru, untied": {"tied": False},
    "ssru, pruned": {"heads": (4, 0, 1), "inner": (96, 20, 0)},
    "ssru, two vocabularies": {"tied": False, "source_pieces": SOURCE_PIECES},
    "attention": {"kind": "attention", "tied": False},
}
MODEL = "model.ende.intgemm.alphas.bin"
# The engine's limit: twice the source with its end, plus the translation's end
OPTIONS = SearchOptions(length_factor=2.0, length_constant=3)
write = partial(export, pad=True, languages=("en", "de"))


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory):
    """Train a vocabulary of a size that Firefox's engine can hold, and a pair with another of the source."""
    base = tmp_path_factory.mktemp("vocabularies")
    shared = make_vocabulary(base / "vocab.spm", size=PIECES)
    source = make_vocabulary(base / "source.spm", size=SOURCE_PIECES, seed=2)
    return {"one": shared, "two": VocabularyPair(source, shared)}


def student(name):
    """Return the random int8 student of that name, whose output depends on positions.

    One number of each weight is much larger than the others, and zeros are beside it: on processors without VNNI, the
    engine adds two products in 16 bits, which never overflow with integers so small.
    """
    model = network(**STUDENTS[name], pieces=PIECES)
    for table in (model.embedding, model.source_embedding):
        if table is not None:
            table.weight.data.div_(6)
    model.output.bias.data.div_(6)
    model.decoder[-1].feed_forward_norm.weight.data.normal_()
    model.decoder[-1].feed_forward_norm.bias.data.zero_()
    for module in model.modules():
        if isinstance(module, torch.nn.Linear | torch.nn.Embedding) and module.weight.numel():
            weight = module.weight.data
            weight[-1] = 0
            weight[-1, 0] = 2.2 * weight.abs().max()
    return quantized(model, "int8", texts=texts(9))


def vocabulary_of(name, vocabularies):
    return vocabularies["two" if "two" in name else "one"]


# Mozilla's records of published students: parameters with activation scales, of which there is one for each matrix
# and one more for a shared table, bytes, and bytes of the options, which end the file.
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
    """All but the options, whose text is Weebill's, takes as many bytes as in Mozilla's file."""
    name = "firefox.tiny"
    model = Translator(Architecture.from_zoo(load_zoo()[name]))
    scales = {name: 1.0 for name, _ in quantizable_linears(model)}
    model = quantize_model(model, "int8", scales, mode="empty")
    tensors = int8_tensors.stored_tensors(int8_tensors.student_of(model, model.architecture))
    write_bin(tmp_path / MODEL, tensors, {"type": "transformer"})
    options = 256  # of a short text, with its padding
    _, size, text = PUBLISHED[name]
    assert (tmp_path / MODEL).stat().st_size - options == size - text


OPTIONS_OF_ENDE = {
    **{"dec-cell": "ssru", "dec-depth": 4, "dim-emb": 384, "enc-depth": 6},
    **{"dim-vocabs": [32000, 32000], "layer-normalization": False, "lemma-dim-emb": 0},
    **{"output-omit-bias": False, "tied-embeddings": False, "tied-embeddings-all": True},
    **{"tied-embeddings-src": False, "transformer-decoder-autoreg": "rnn", "type": "transformer"},
    **{"transformer-decoder-dim-ffn": 0, "transformer-decoder-ffn-depth": 0, "ulr": False},
    **{"transformer-dim-ffn": 1536, "transformer-ffn-activation": "relu"},
    **{"transformer-ffn-depth": 2, "transformer-heads": 8, "transformer-no-affine": False},
    **{"transformer-no-bias": False, "transformer-no-projection": False},
    **{"transformer-postprocess": "dan", "transformer-postprocess-emb": "d"},
    **{"transformer-postprocess-top": "", "transformer-preprocess": ""},
    **{"transformer-rnn-projection": False, "transformer-tied-layers": []},
    **{"transformer-train-position-embeddings": False},
}
"""Options of a published student, en-de, which make its network."""


def test_options_of_published_students_are_read():
    zoo = load_zoo()["firefox.base-memory"]
    assert configuration.to_architecture(OPTIONS_OF_ENDE, "ende") == Architecture.from_zoo(zoo)
    split = {"tied-embeddings": True, "tied-embeddings-all": False}  # those of en-zh
    found = configuration.to_architecture({**OPTIONS_OF_ENDE, **split}, "enzh")
    assert found == Architecture.from_zoo(zoo, 32_000, 32_000)
    scales = len(list(configuration.linear_maps(found)))
    assert found.parameters + scales == 43_536_965


@pytest.mark.parametrize("name", STUDENTS)
def test_firefox_would_compute_the_same(tmp_path, vocabularies, name):
    """Every tensor is read by name, from the place that the format gives it, and the scores agree."""
    model = student(name)
    write(model, vocabulary_of(name, vocabularies), tmp_path / "firefox")
    theirs = FirefoxFormulas(tmp_path / "firefox" / MODEL)
    for source, target in zip(texts(4), texts(8)[4:], strict=True):
        found, expected = theirs.scores(source, target), logits(model, source, target, epsilon=1e-5)
        np.testing.assert_allclose(found, expected, atol=0.03 * np.abs(expected).max())
    assert theirs.asked == {*theirs.arrays, "special:model.yml"}


def shortlist_of(vocabulary, rows):
    """Return a random shortlist; one piece has fewer candidates."""
    draw = np.random.default_rng(1)
    candidates = draw.integers(2, PIECES, (rows, 2), dtype=np.int32)
    candidates[5, 1:] = -1
    target = PIECES if rows != PIECES else None
    return Shortlist(candidates, np.array([0, 7, 9], np.int32), vocabulary.sha256, target)


@pytest.mark.parametrize("name", ["ssru", "ssru, two vocabularies", "attention"])
def test_there_and_back(tmp_path, vocabularies, name):
    """The int8 import restores the student, a second export the file; float32 weights are the integers, decoded."""
    model, vocabulary = student(name), vocabulary_of(name, vocabularies)
    lists = shortlist_of(vocabulary, SOURCE_PIECES if "two" in name else PIECES)
    write(model, vocabulary, tmp_path / "one", lists)
    import_student(tmp_path / "one", tmp_path / "int8", int8=True, shortlist=tmp_path / "lists")
    import_student(tmp_path / "one", tmp_path / "float32")
    imported, decoded = (load_any_model(tmp_path / kind) for kind in ("int8", "float32"))
    assert imported.vocabulary.sha256 == vocabulary.sha256
    assert imported.network.guided and decoded.network.guided
    found = greedy([imported.network], texts(), OPTIONS)
    assert found == greedy([model], texts(), OPTIONS) and len(set(map(tuple, found))) > 5
    first = FirefoxFormulas(tmp_path / "one" / MODEL)
    weights = decoded.network.state_dict()
    table = "decoder_Wemb" if "two" in name else "Wemb"
    for theirs, ours in {
        table: "embedding",
        "encoder_l2_ffn_W1": "encoder.1.feed_forward.inner",
    }.items():
        numbers = first.arrays[theirs] / np.float32(first.multipliers[theirs])
        assert np.array_equal(weights[f"{ours}.weight"].numpy(), numbers)
    again = Shortlist.load(tmp_path / "lists", vocabulary.sizes, vocabulary.sha256)
    for source in texts():
        own = [] if "two" in name else source  # engines allow the source's pieces too
        assert set(again.columns(source)) == {*lists.columns(source), *own}
    write(imported.network, imported.vocabulary, tmp_path / "two", lists)
    second = FirefoxFormulas(tmp_path / "two" / MODEL)
    for key, array in first.arrays.items():
        np.testing.assert_allclose(second.arrays[key], array, rtol=1e-6 * (array.dtype != np.int8))
    for key, multiplier in first.multipliers.items():
        assert second.multipliers[key] == pytest.approx(multiplier, rel=1e-6)
    for file in {path.name for path in (tmp_path / "one").iterdir()} - {MODEL, "records.json"}:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_files_have_the_names_of_firefox(tmp_path, vocabularies):
    """The configuration and the records name each file; gzip may compress them, as Mozilla stores them."""
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


def native(folder: Path) -> list[str]:
    """Return native Bergamot's translations of TEXT."""
    script = Path(__file__).with_name("bergamot_engine.py")
    done = subprocess.run(
        [os.environ["WEEBILL_BERGAMOT"], str(script), str(folder)],
        input="".join(f"{line}\n" for line in TEXT),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split("\n")[:-1]


ENGINES = [
    pytest.param(
        native,
        marks=pytest.mark.skipif(
            "WEEBILL_BERGAMOT" not in os.environ,
            reason="WEEBILL_BERGAMOT names no Python with the wheel bergamot",
        ),
    ),
    pytest.param(
        engine,
        marks=pytest.mark.skipif(
            not ENGINE.is_dir() or shutil.which("node") is None,
            reason="Marian's engine is not here; `make engines` fetches it from npm",
        ),
    ),
]


def check_alike(found: list[str], expected: list[str]) -> None:
    """Check that all texts but one begin alike.

    Other rounding of floats may change an integer, which decides near ties, and all that follows.
    """
    alike = [one[:6] == other[:6] for one, other in zip(found, expected, strict=True)]
    assert sum(alike) >= len(TEXT) - 1 and len({*expected}) > 1


@pytest.mark.parametrize("translate", ENGINES)
@pytest.mark.parametrize("name", STUDENTS)
def test_bergamot_translates_alike(tmp_path, vocabularies, name, translate):
    model, vocabulary = student(name), vocabulary_of(name, vocabularies)
    write(model, vocabulary, tmp_path / "firefox")
    found = greedy([model], vocabulary.source.encode(TEXT), OPTIONS)
    check_alike(translate(tmp_path / "firefox"), vocabulary.target.decode(found))


@pytest.mark.parametrize("translate", ENGINES)
@pytest.mark.parametrize("name", ["ssru, untied", "ssru, two vocabularies"])
def test_bergamot_uses_the_shortlist(tmp_path, vocabularies, name, translate):
    """The engine adds the pieces of the source, if both sides share them, and others up to a multiple of eight."""
    model, vocabulary, two = student(name), vocabulary_of(name, vocabularies), "two" in name
    lists = shortlist_of(vocabulary, SOURCE_PIECES if two else PIECES)
    write(model, vocabulary, tmp_path / "firefox", lists)
    expected, bias = [], model.output.bias.data.clone()
    for source in vocabulary.source.encode(TEXT):
        columns = {*lists.columns(source).tolist(), *([] if two else source)}
        others = (piece for piece in range(2, PIECES) if piece not in columns)
        columns.update(next(others) for _ in range(-len(columns) % 8))
        absent = [piece for piece in range(PIECES) if piece not in columns]
        model.output.bias.data.copy_(bias)
        model.output.bias.data[absent] = -1e4
        expected += vocabulary.target.decode(greedy([model], [source], OPTIONS))
    check_alike(translate(tmp_path / "firefox"), expected)


@pytest.mark.parametrize("change, message", [
    (lambda blob: blob[:-300], "ends at byte"),
    (lambda blob: blob[:20], "ends at byte"),
    (lambda blob: b"\2" + blob[1:], "its first number is 2, expected 1"),
    (lambda blob: blob.replace(struct.pack("<Q", 0x4101), struct.pack("<Q", 0x4102), 1), "type intgemm16"),
    (lambda blob: blob.replace(b"encoder_l1_ffn_W1\0", b"encoder_l1_ffn_V1\0"), "no tensor encoder_l1_ffn_W1"),
    (lambda blob: blob.replace(b"special:model.yml", b"special:model.xml"), "no special:model.yml"),
    (lambda blob: blob.replace(b"dec-cell: ssru", b"dec-cell: gru "), "dec-cell is 'gru'"),
    (lambda blob: b"\x28\xb5\x2f\xfd" + blob, "compressed by zstd"),
    (lambda blob: b"\x1f\x8b" + blob, "damaged"),
])  # fmt: skip
def test_foreign_models_are_refused_in_their_own_words(tmp_path, vocabularies, change, message):
    write(student("ssru"), vocabularies["one"], tmp_path / "firefox")
    path = tmp_path / "firefox" / MODEL
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=re.escape(message)) as found:
        import_student(tmp_path / "firefox", tmp_path / "imported")
    assert all(line.startswith(f"{path}: ") for line in str(found.value).split("\n"))
    assert not (tmp_path / "imported").exists()


def test_a_model_with_any_part_damaged_is_refused_or_whole(tmp_path, vocabularies):
    """Every 97th byte of the head is changed: the file is refused in one line, or read with all its tensors."""
    write(student("ssru"), vocabularies["one"], tmp_path / "firefox")
    path = tmp_path / "firefox" / MODEL
    whole, names, refused = path.read_bytes(), conversion.read(path)[1].keys(), 0
    for place in range(0, 6000, 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            assert conversion.read(path)[1].keys() == names
        except InputError:
            refused += 1
    assert refused > 20


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


def test_folders_that_are_not_clear_are_refused(tmp_path, vocabularies):
    base = tmp_path / "firefox"
    with pytest.raises(InputError, match=r"no model\.\*\.bin"):
        import_student(tmp_path, tmp_path / "imported")
    write(student("ssru"), vocabularies["one"], base)
    with pytest.raises(InputError, match="no shortlist"):
        import_student(base, tmp_path / "imported", shortlist=tmp_path / "lists")
    (base / "lex.50.50.ende.s2t.bin").write_bytes(bytes(100))
    with pytest.raises(InputError, match="not a binary shortlist of Marian"):
        import_student(base, tmp_path / "imported", shortlist=tmp_path / "lists")
    shutil.copy(base / MODEL, base / "model.enfr.intgemm.alphas.bin")
    with pytest.raises(InputError, match=r"there are model\.ende.*; name the model's file"):
        import_student(base, tmp_path / "imported")
    import_student(base / MODEL, tmp_path / "again")
    (base / "vocab.ende.spm").unlink()
    with pytest.raises(InputError, match="name it by --vocabulary"):
        import_student(base / MODEL, tmp_path / "imported")


@pytest.mark.parametrize(
    "names",
    [
        ("model.ende.intgemm.alphas.bin", "vocab.ende.spm", "lex.50.50.ende.s2t.bin"),
        ("model.enzh-Hant.intgemm.alphas.bin", "vocab.enzh-Hant.spm", "lex.enzh-Hant.s2t.bin.gz"),
        ("model.intgemm.alphas.bin", "vocab.deen.spm", "lex.s2t.bin.gz"),  # browsermt's
        ("model.npz", "vocab.spm", "lex.bin"),
    ],
)
def test_files_are_found_by_the_names_of_their_publishers(tmp_path, names):
    for name in names:
        (tmp_path / name).touch()
    model, vocabulary, lists = (tmp_path / name for name in names)
    for path in (tmp_path, model):
        found = find(path)
        assert (found.model, found.vocabulary, found.shortlist) == (model, vocabulary, lists)
        assert found.source_vocabulary is None


def test_float32_models_have_no_integers_to_keep(tmp_path, vocabularies):
    conversion.export(
        network(pieces=PIECES, inner=(80, 80, 80)), vocabularies["one"], tmp_path / "marian"
    )
    with pytest.raises(InputError, match="its weights are float32, such as"):
        import_student(tmp_path / "marian", tmp_path / "imported", int8=True)


@pytest.mark.parametrize("code", ["", "e/n", "../x", "en\n", "[en]"])
def test_codes_that_names_of_files_cannot_hold_are_refused(tmp_path, vocabularies, code):
    model = student("ssru")
    with pytest.raises(InputError, match="expected a language code"):
        export(model, vocabularies["one"], tmp_path / "out", languages=(code, "de"), pad=True)
    assert not list(tmp_path.iterdir())


def test_a_model_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.bin: no such file"):
        import_student(tmp_path / "none.bin", tmp_path / "out")
