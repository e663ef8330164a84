"""Students with a separate source vocabulary: exports to each engine, and the import from Marian."""

import numpy as np
import pytest
import yaml

from tests.runtime.exports.marian_formulas import MarianFormulas, check_formulas
from tests.runtime.exports.students import (
    OPTIONS,
    PIECES,
    SOURCE_PIECES,
    TWO_VOCABULARIES,
    ctranslate2_greedy,
    onnx_greedy,
    student,
    texts,
)
from tests.runtime.exports.test_marian import damaged
from tests.small_models import make_vocabulary
from weebill.errors import InputError
from weebill.files import read_json
from weebill.runtime.exports.formats import convert
from weebill.runtime.exports.marian.conversion import export, import_model
from weebill.runtime.exports.onnx.exporting import OnnxStudent
from weebill.translation.model.folder import load_model, save_model
from weebill.translation.search import greedy
from weebill_runtime.shortlist import Shortlist

ATTENTION = "attention, two vocabularies"


@pytest.fixture(params=TWO_VOCABULARIES)
def model(request, tmp_path, pair):
    """Write a model folder and load it."""
    save_model(tmp_path / "model", student(request.param), pair, {"seed": 7})
    return load_model(tmp_path / "model")


def test_marian_would_compute_the_same(tmp_path, model):
    """Every tensor is read by its name in Marian without tied-embeddings-all."""
    convert(model, "marian", tmp_path / "marian")
    theirs = MarianFormulas(tmp_path / "marian/model.npz")
    check_formulas(theirs, model.network)
    options = yaml.safe_load((tmp_path / "marian/config.yml").read_text())
    assert options["vocabs"] == ["source.spm", "vocab.spm"]
    assert theirs.options["dim-vocabs"] == [SOURCE_PIECES, PIECES]


def test_there_and_back(tmp_path, model):
    """The import restores both vocabulary files and the tensors, and a second export the files."""
    marian, imported = tmp_path / "marian", tmp_path / "imported"
    convert(model, "marian", marian)
    import_model(marian / "model.npz", marian / "vocab.spm", imported, marian / "source.spm")
    for file in ("model.safetensors", "vocab.spm", "source.spm"):
        assert (model.path / file).read_bytes() == (imported / file).read_bytes()
    again = load_model(imported)
    assert greedy([again.network], texts(), OPTIONS) == greedy([model.network], texts(), OPTIONS)
    convert(again, "marian", tmp_path / "again")
    for file in marian.iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes(), file


def test_other_engines_translate_alike(tmp_path, model, pair):
    expected = greedy([model.network], texts(), OPTIONS)
    convert(model, "onnx", tmp_path / "onnx")
    limit = OPTIONS.limit(0)
    assert onnx_greedy(OnnxStudent(tmp_path / "onnx"), texts(), limit, unknown=True) == expected
    if model.network.decoder_kind == "attention":
        convert(model, "ctranslate2", tmp_path / "ct2", quantization="float32")
        assert ctranslate2_greedy(tmp_path / "ct2", pair) == expected
        names = read_json(tmp_path / "ct2/source_vocabulary.json")
        assert names == pair.source.pieces
    for folder in tmp_path.glob("[oc]*"):
        assert (folder / "source.spm").read_bytes() == pair.source.path.read_bytes()


def test_shortlists_lead_from_source_to_target_pieces(tmp_path, model, pair):
    candidates = np.random.default_rng(1).integers(2, PIECES, (SOURCE_PIECES, 3), dtype=np.int32)
    shortlist = Shortlist(candidates, np.array([0, 7], np.int32), pair.sha256, PIECES)
    convert(model, "marian", tmp_path / "marian", shortlist)
    lines = (tmp_path / "marian/lex.s2t").read_text("utf-8").splitlines()
    found = {(source, target) for target, source, _ in map(str.split, lines)}
    sources, targets = pair.source.pieces, pair.target.pieces
    wanted = {(sources[s], targets[t]) for s, row in enumerate(candidates) for t in row}
    assert found == wanted | {(sources[0], targets[piece]) for piece in (0, 7)}


def test_wrong_vocabularies_are_refused(tmp_path, pair):
    export(student(ATTENTION), pair, tmp_path / "two")
    path, files = tmp_path / "two/model.npz", (pair.target.path, pair.source.path)
    with pytest.raises(InputError, match="two vocabularies; name the source's by --source-vocab"):
        import_model(path, files[0], tmp_path / "imported")
    with pytest.raises(InputError, match=r"has 66 pieces.*trained with 60"):
        import_model(path, files[1], tmp_path / "imported", files[0])
    export(student("ssru"), pair.target, tmp_path / "one")
    with pytest.raises(InputError, match="one vocabulary; name only that"):
        import_model(tmp_path / "one/model.npz", files[0], tmp_path / "imported", files[1])
    other = make_vocabulary(tmp_path / "other.spm", size=PIECES - 5)
    with pytest.raises(InputError, match=r"other\.spm: has 55 pieces.*trained with 66"):
        import_model(path, files[0], tmp_path / "imported", other.path)


@pytest.fixture(scope="module")
def exported(tmp_path_factory, pair):
    """Return the folder of an exported student with attention."""
    folder = tmp_path_factory.mktemp("exported") / "marian"
    export(student(ATTENTION), pair, folder)
    return folder


@pytest.mark.parametrize(
    "options, message",
    [
        ({"tied-embeddings": False}, "tied-embeddings is False, Weebill's students have True"),
        ({"tied-embeddings-src": True}, "tied-embeddings-src is True"),
        ({"dim-vocabs": [60]}, r"dim-vocabs is \[60\], expected two sizes"),
        ({"tied-embeddings-all": True}, "dim-vocabs is .* expected the same size twice"),
    ],
)
def test_other_ties_are_refused(tmp_path, pair, exported, options, message):
    path = damaged(exported, tmp_path, lambda arrays: None, options)
    with pytest.raises(InputError, match=message):
        import_model(path, pair.target.path, tmp_path / "imported", pair.source.path)
