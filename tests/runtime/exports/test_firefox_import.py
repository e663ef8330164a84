"""Students of Firefox, read by Weebill's import."""

import re
import shutil
import struct

import numpy as np
import pytest

from tests.runtime.conftest import network
from tests.runtime.exports.firefox_students import (
    MODEL,
    OPTIONS,
    PIECES,
    SOURCE_PIECES,
    shortlist_of,
    student,
    vocabulary_of,
    write,
)
from tests.runtime.exports.marian_formulas import FirefoxFormulas
from tests.runtime.exports.students import texts
from weebill.configuration.zoo_file import load_zoo
from weebill.errors import InputError
from weebill.runtime.exports.marian import configuration, conversion
from weebill.runtime.exports.marian.firefox import find, import_student
from weebill.translation.model.packed_folder import load_any_model
from weebill.translation.search import greedy
from weebill_runtime.architecture import Architecture
from weebill_runtime.shortlist import Shortlist

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
    split = {"tied-embeddings": True, "tied-embeddings-all": False}  # as in en-zh
    found = configuration.to_architecture({**OPTIONS_OF_ENDE, **split}, "enzh")
    assert found == Architecture.from_zoo(zoo, 32_000, 32_000)
    scales = len(list(configuration.linear_maps(found)))
    assert found.parameters + scales == 43_536_965


@pytest.mark.parametrize("name", ["ssru", "ssru, two vocabularies", "attention"])
def test_there_and_back(tmp_path, vocabularies, name):
    """The int8 import restores the student, and a second export the file; float32 weights are decoded integers."""
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
        own = [] if "two" in name else source  # engines also allow the source's pieces
        assert set(again.columns(source)) == {*lists.columns(source), *own}
    write(imported.network, imported.vocabulary, tmp_path / "two", lists)
    second = FirefoxFormulas(tmp_path / "two" / MODEL)
    for key, array in first.arrays.items():
        np.testing.assert_allclose(second.arrays[key], array, rtol=1e-6 * (array.dtype != np.int8))
    for key, multiplier in first.multipliers.items():
        assert second.multipliers[key] == pytest.approx(multiplier, rel=1e-6)
    for file in {path.name for path in (tmp_path / "one").iterdir()} - {MODEL, "records.json"}:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


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
    """With any 97th byte of the header changed, the file is refused in one line, or read with all its tensors."""
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
        ("model.intgemm.alphas.bin", "vocab.deen.spm", "lex.s2t.bin.gz"),  # browsermt's names
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


def test_a_model_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.bin: no such file"):
        import_student(tmp_path / "none.bin", tmp_path / "out")
