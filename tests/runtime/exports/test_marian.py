"""Marian models, read with Marian's formulas, by CTranslate2's converter, and by Weebill's import."""

import ctypes
import struct
import zipfile

import numpy as np
import pytest
import torch
import yaml
from ctranslate2.converters import MarianConverter
from ctranslate2.converters import marian as converter

from tests.runtime.conftest import network
from tests.runtime.exports.marian_formulas import MarianFormulas, check_formulas
from tests.runtime.exports.students import (
    OPTIONS,
    PIECES,
    SHAPES,
    TWO_VOCABULARIES,
    UNEVEN,
    ctranslate2_greedy,
    student,
    texts,
)
from tests.small_models import make_vocabulary
from weebill.errors import InputError
from weebill.quantization.modules import quantize_model
from weebill.runtime.exports.marian.conversion import export, import_model, read
from weebill.runtime.exports.marian.files import read_npz
from weebill.runtime.exports.marian.shortlists import write_shortlist_text
from weebill.translation.model.folder import load_model, save_model
from weebill.translation.model.network import sinusoids
from weebill.translation.search import greedy
from weebill_runtime.shortlist import Shortlist


@pytest.fixture(scope="module")
def exported(tmp_path_factory, vocabulary):
    """Return the folder of an exported student."""
    folder = tmp_path_factory.mktemp("exported") / "marian"
    export(student("ssru"), vocabulary, folder)
    return folder


@pytest.mark.parametrize("name", [*SHAPES, *UNEVEN])
def test_marian_would_compute_the_same(tmp_path, vocabulary, name):
    """Every tensor is read by name and has the shape that follows from the options, and the scores agree."""
    model = student(name)
    export(model, vocabulary, tmp_path / "marian", pad=name in UNEVEN)
    check_formulas(MarianFormulas(tmp_path / "marian/model.npz"), model)


@pytest.mark.parametrize(
    "name", ["attention, untied", "attention, pruned", "attention, two vocabularies"]
)
def test_ctranslate2_reads_it(tmp_path, vocabulary, pair, name, monkeypatch):
    """CTranslate2's converter from Marian reads the export; only its positions differ from Marian's."""
    positions = sinusoids(0, 512, 64, torch.device("cpu")).numpy()
    monkeypatch.setattr(converter, "_make_sinusoidal_position_encodings", lambda dim: positions)
    model, two = student(name), name in TWO_VOCABULARIES
    pieces, source = (pair, "source.yml") if two else (vocabulary, "vocab.yml")
    export(model, pieces, tmp_path / "marian", pad=name in UNEVEN)
    files = [str(tmp_path / "marian" / file) for file in ("model.npz", source, "vocab.yml")]
    MarianConverter(files[0], files[1:]).convert(str(tmp_path / "ct2"))
    assert ctranslate2_greedy(tmp_path / "ct2", pieces) == greedy([model], texts(), OPTIONS)


@pytest.mark.parametrize("name", SHAPES)
def test_there_and_back(tmp_path, vocabulary, name):
    """The import restores the tensors to the bit, and a second export the files; translations are equal."""
    model = student(name)
    save_model(tmp_path / "model", model, vocabulary, {"seed": 7})
    export(model, vocabulary, tmp_path / "marian")
    import_model(
        tmp_path / "marian/model.npz", tmp_path / "marian/vocab.spm", tmp_path / "imported"
    )
    first, second = tmp_path / "model", tmp_path / "imported"
    for file in ("model.safetensors", "vocab.spm"):
        assert (first / file).read_bytes() == (second / file).read_bytes()
    imported = load_model(second)
    assert imported.network.architecture == model.architecture
    assert greedy([imported.network], texts(), OPTIONS) == greedy([model], texts(), OPTIONS)
    export(imported.network, imported.vocabulary, tmp_path / "again")
    for file in (tmp_path / "marian").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes(), file


def test_a_student_on_a_grid_leaves_as_decoded(tmp_path, vocabulary):
    model = quantize_model(student("ssru"), "log4")
    export(model, vocabulary, tmp_path / "marian")
    _, arrays = read(tmp_path / "marian/model.npz")
    weight = model.encoder[0].feed_forward.inner.weight.detach().numpy()
    assert np.array_equal(arrays["encoder.0.feed_forward.inner.weight"], weight)
    assert len(np.unique(np.abs(weight))) <= 8


@pytest.mark.parametrize("name", UNEVEN)
def test_uneven_students_are_refused_unless_padded(tmp_path, vocabulary, name):
    with pytest.raises(InputError, match="--pad"):
        export(student(name), vocabulary, tmp_path / "marian")
    assert not (tmp_path / "marian").exists()


def test_heads_that_marian_cannot_hold_are_refused(tmp_path, vocabulary):
    with pytest.raises(InputError, match=r"divides the embedding width 64.*heads have 24"):
        export(network(head=24, pieces=PIECES), vocabulary, tmp_path / "marian", pad=True)


@pytest.mark.parametrize("wide", [{"heads": (5, 4, 4)}, {"kind": "attention", "own": 5}])
def test_more_heads_than_marian_has_are_refused(tmp_path, vocabulary, wide):
    for pad in (False, True):
        with pytest.raises(InputError, match=r"width 64 together, .* a layer of 5 heads of 16"):
            export(network(**wide, pieces=PIECES), vocabulary, tmp_path / "wide", pad=pad)


def test_the_binary_model_holds_the_same(exported):
    """The file is read in the order of Marian's binary.cpp."""
    blob = (exported / "model.bin").read_bytes()
    version, count = struct.unpack_from("<QQ", blob)
    headers = [struct.unpack_from("<QQQQ", blob, 16 + 32 * i) for i in range(count)]
    place, names, shapes = 16 + 32 * count, [], []
    for length, *_ in headers:
        names.append(blob[place : place + length - 1].decode())
        place += length
    for _, _, dimensions, _ in headers:
        shapes.append(struct.unpack_from(f"<{dimensions}i", blob, place))
        place += 4 * dimensions
    (offset,) = struct.unpack_from("<Q", blob, place)
    place += 8 + offset
    assert version == 1 and place % 256 == 0
    with np.load(exported / "model.npz") as archive:
        assert sorted(names) == sorted(archive.files)
        for name, shape, (_, kind, _, size) in zip(names, shapes, headers, strict=True):
            array = archive[name]
            assert shape == array.shape and kind == (0x101 if array.dtype == np.int8 else 0x404)
            assert blob[place : place + array.nbytes] == array.tobytes()
            place += size
    assert place == len(blob)
    (shape, found), (other, expected) = (
        read(exported / f"model.{kind}") for kind in ("bin", "npz")
    )
    assert shape == other and found.keys() == expected.keys()
    assert all(np.array_equal(found[name], array) for name, array in expected.items())


def hash_of(body):
    """Return Marian's hashMem: h ^= w + 0x9e3779b9 + (h << 6) + (h >> 2) over 64-bit words that wrap around."""
    h = ctypes.c_uint64(0)
    for (word,) in struct.iter_unpack("<Q", body[: len(body) - len(body) % 8]):
        added = ctypes.c_uint64(word + 0x9E3779B9 + (h.value << 6) + (h.value >> 2))
        h = ctypes.c_uint64(h.value ^ added.value)
    return h.value


def test_a_piece_with_a_space_has_no_place_in_a_text_shortlist(tmp_path):
    shortlist = Shortlist(np.zeros((2, 1), np.int32), np.zeros(1, np.int32))
    with pytest.raises(InputError, match="the piece 'a b'"):
        write_shortlist_text(tmp_path / "lex.s2t", shortlist, *[["</s>", "a b"]] * 2)
    assert write_shortlist_text(tmp_path / "lex.s2t", shortlist, *[["</s>", "a\u00a0b"]] * 2) == 1


def test_the_shortlist_in_both_formats(tmp_path, vocabulary):
    """Both formats, read as Marian reads them, give the columns of our shortlist."""
    draw = np.random.default_rng(1)
    candidates = draw.integers(2, PIECES, (PIECES, 3), dtype=np.int32)
    candidates[5, 1:] = -1
    shortlist = Shortlist(candidates, np.array([0, 7, 9], dtype=np.int32))
    export(student("ssru"), vocabulary, tmp_path / "marian", shortlist=shortlist)
    options = yaml.safe_load((tmp_path / "marian/config.yml").read_text())
    name, first, best, threshold = options["shortlist"]
    numbers = {piece: number for number, piece in enumerate(vocabulary.pieces)}
    table = [{} for _ in numbers]
    for line in (tmp_path / "marian" / name).read_text("utf-8").splitlines():
        target, source, weight = line.split()
        assert float(weight) > threshold
        table[numbers[source]][numbers[target]] = float(weight)
    assert max(map(len, table)) == best
    blob = (tmp_path / "marian/lex.bin").read_bytes()
    _, checksum, *header = struct.unpack_from("<6Q", blob)
    offsets = struct.unpack_from(f"<{header[2]}Q", blob, 48)
    targets = struct.unpack_from(f"<{header[3]}I", blob, 48 + 8 * header[2])
    assert header == [first, best, PIECES + 1, offsets[-1]]
    assert len(blob) == 48 + 8 * header[2] + 4 * header[3]
    assert checksum == hash_of(blob[16:])
    for source in texts(5):
        wanted = set(shortlist.columns(source).tolist())
        assert {*range(first)}.union(*(table[piece] for piece in source)) == wanted
        listed = (targets[offsets[piece] : offsets[piece + 1]] for piece in source)
        assert {*range(first)}.union(*listed) == wanted


def damaged(exported, folder, change, options=()):
    """Write the exported .npz with changes of some arrays and options into a folder; return its path."""
    with np.load(exported / "model.npz") as archive:
        arrays = dict(archive)
    text = yaml.safe_load(arrays["special:model.yml"][:-1].tobytes())
    text = yaml.safe_dump({**text, **dict(options)}).encode() + b"\0"
    arrays["special:model.yml"] = np.frombuffer(text, np.int8)
    change(arrays)
    np.savez(folder / "other.npz", **arrays)
    return folder / "other.npz"


def test_published_students_with_activation_scales_are_read(tmp_path, exported):
    scale = {"encoder_l1_self_Wq_QuantMultA": np.ones((1, 1), np.float32)}
    path = damaged(exported, tmp_path, lambda arrays: arrays.update(scale))
    assert read(path)[1].keys() == read(exported / "model.npz")[1].keys()


@pytest.mark.parametrize(
    "change, options, message",
    [
        (lambda a: a.pop("decoder_l1_rnn_Wf"), {}, "no tensor decoder_l1_rnn_Wf"),
        (lambda a: a.update(Wpos=a["Wemb"]), {}, "tensor Wpos is in none"),
        (lambda a: a.update(Wemb=a["Wemb"][:-1]), {}, r"Wemb is \(59, 64\), by .* \(60, 64\)"),
        (lambda a: a.update(Wemb=a["Wemb"].astype(np.int8)), {}, "Wemb is int8; take the float32"),
        (lambda a: a.update(encoder_l1_self_Wq_QuantMultA=np.array(["x"])), {}, "no number above 0"),
        (lambda a: a.update(encoder_l1_self_Wq_QuantMultA=np.array([1j])), {}, "no number above 0"),
        (lambda a: a.pop("special:model.yml"), {}, "no special:model.yml"),
        (lambda a: None, {"type": "s2s"}, "type is 's2s'"),
        (lambda a: None, {"dec-cell": "gru"}, "dec-cell is 'gru', Weebill's students have 'ssru'"),
        (lambda a: None, {"dim-vocabs": [60, 50]}, "dim-vocabs"),
        (lambda a: None, {"dim-vocabs": []}, r"dim-vocabs is \[\], expected the same size twice"),
        (lambda a: None, {"dim-vocabs": [60]}, "dim-vocabs"),
        (lambda a: None, {"dim-vocabs": 60}, "dim-vocabs"),
        (lambda a: None, {"dec-depth": "two"}, "dec-depth is 'two', expected a whole number"),
        (lambda a: None, {"enc-depth": 10**9}, "enc-depth is 1000000000, expected a whole number from 1 to 1,024"),
        (lambda a: None, {"dec-depth": 10**9}, "dec-depth is 1000000000, expected a whole number from 1 to 1,024"),
        (lambda a: None, {"transformer-tied-layers": [1, 2, 2]}, "transformer-tied-layers"),
        (lambda a: None, {"transformer-heads": 7}, "dim-emb 64 is no multiple"),
        (lambda a: None, {"transformer-rnn-projection": True}, "transformer-rnn-projection"),
    ],
)  # fmt: skip
def test_other_models_are_refused(tmp_path, vocabulary, exported, change, options, message):
    path = damaged(exported, tmp_path, change, options)
    with pytest.raises(InputError, match=message) as found:
        import_model(path, vocabulary.path, tmp_path / "imported")
    assert str(path) in str(found.value)
    assert not (tmp_path / "imported").exists()


def test_foreign_files_are_refused(tmp_path, exported):
    for file in ("vocab.spm", "none.npz"):
        with pytest.raises(InputError, match=file):
            read(exported / file)
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, Wemb=np.array([{}], dtype=object))
    with pytest.raises(InputError, match=r"not a Marian \.npz"):
        read(pickled)


def test_options_of_aliases_without_end(tmp_path, exported):
    text = "a0: &a0 x\n" + "".join(f"a{i + 1}: &a{i + 1} [*a{i}, *a{i}]\n" for i in range(70))
    options = np.frombuffer(f"{text}\0".encode(), np.int8)
    path = damaged(exported, tmp_path, lambda arrays: arrays.update({"special:model.yml": options}))
    assert "special:model.yml is not YAML" in refused(path)


def refused(path):
    """Return the single error line for a refused file."""
    with pytest.raises(InputError) as found:
        read(path)
    line = str(found.value)
    assert line.startswith(f"{path}: ") and "\n" not in line
    return line


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_model_with_any_byte_damaged_is_refused_or_whole(tmp_path, save):
    """With any damaged byte, compressed and other files are refused, or read whole if zip ignores the byte."""
    path, options = tmp_path / "damaged.npz", np.frombuffer(b"type: transformer\0", np.int8)
    save(path, **{"special:model.yml": options, "Wemb": np.arange(12, dtype=np.float32)})
    whole, refusals = path.read_bytes(), 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            arrays, found = read_npz(path)
        except InputError:
            refusals += 1
        else:
            assert found == {"type": "transformer"}
            assert all(array.tolist() == list(range(12)) for array in arrays.values())
    assert refusals > len(whole) / 2


def test_files_of_numpy_that_are_no_models_are_refused(tmp_path):
    np.save(tmp_path / "single.npy", np.zeros(3))
    assert "not a Marian .npz, or damaged (it is a single array)" in refused(
        tmp_path / "single.npy"
    )
    (tmp_path / "single.npy").write_bytes(b"\x93NUMPY\x01\x00\xff\xff" + b" " * 65535)
    assert "not a Marian .npz" in refused(tmp_path / "single.npy")
    for name, reason in (
        ("special:model.yml", "special:model.yml in it is no array"),
        ("notes.txt", "notes.txt in it is no array"),
    ):
        with zipfile.ZipFile(tmp_path / "other.npz", "w") as archive:
            archive.writestr(name, "type: transformer")
        assert reason in refused(tmp_path / "other.npz")


def test_options_that_yaml_cannot_hold_are_refused(tmp_path):
    """Refused options have an impossible date, or are no text, broken YAML, or no mapping."""
    for text in (b"version: 2020-99-99", b"version: \xff", b"version: [", b"version"):
        options = np.frombuffer(text, np.int8)
        np.savez(tmp_path / "other.npz", **{"special:model.yml": options})
        assert "special:model.yml" in refused(tmp_path / "other.npz")


def test_a_vocabulary_of_another_size_is_refused(tmp_path, exported):
    other = make_vocabulary(tmp_path / "other.spm", size=PIECES - 5)
    with pytest.raises(InputError, match=r"has 55 pieces.*trained with 60"):
        import_model(exported / "model.npz", other.path, tmp_path / "imported")
