"""Loading of any translator: the runtime for Weebill models on the processor, PyTorch for others."""

import shutil

import numpy as np
import pytest
import torch

from tests.hugging_face_models import SENTENCES, make_marian
from tests.small_models import TEXT, make_folder, make_vocabulary
from weebill.errors import InputError
from weebill.runtime import loading
from weebill.runtime.loading import load
from weebill.runtime.shortlist import save_shortlist
from weebill.runtime.text import RuntimeTranslator
from weebill.translation.loading import load_translator
from weebill.translation.model.folder import load_model
from weebill.translation.translator import NetworkTranslator
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    vocabulary = make_vocabulary(base / "vocab.spm")
    for seed, name in enumerate(("float32", "int8")):
        make_folder(base / "recipe" / name, vocabulary, seed)
    make_marian(base / "marian")
    return base


def test_models_of_ours_translate_by_the_runtime(base):
    model = base / "recipe/float32"
    for translator in (load(model), load(base / "recipe", "float32", threads=2)):
        assert isinstance(translator.translator, RuntimeTranslator)
        assert translator.translate(TEXT) == load_translator(model).translate(TEXT)
    both = sorted((base / "recipe").iterdir())
    assert load(both).translate(TEXT) == load_translator(both).translate(TEXT)


def test_a_hugging_face_model_translates_by_pytorch(base):
    known = load_translator(base / "marian")
    found = load(base / "marian")
    assert found.translate(SENTENCES) == known.translate(SENTENCES)
    best = found.nbest(SENTENCES, SearchOptions())
    scores = found.scores([*SENTENCES, " ", ""], [*(one.text for (one,) in best), "", "Hund"])
    assert scores[-2:].tolist() == [0.0, float("-inf")]
    assert (scores[:-2] < 0).all()


@pytest.mark.parametrize(
    ("folder", "options", "message"),
    [
        ("none", {}, "none: no such model folder; check the path"),
        ("recipe", {}, "recipe: holds several models; choose one by --precision float32|int8"),
        ("recipe", {"precision": "int4"}, "recipe: precision 'int4'; did you mean 'int8'?"),
        ("recipe/int8", {"languages": ("en", "de")}, "languages: for Hugging Face models of many"),
        ("recipe/int8", {"device": "cuda:99"}, "device cuda:99: not available here; use cpu"),
        ("recipe/int8", {"device": "tpu"}, "device tpu: not for models; use cpu, cuda"),
        ("marian", {"precision": "int8"}, "precision int8: chooses among Weebill models; "),
        ("marian", {"isa": "avx2"}, "isa: for the runtime, which translates by Weebill models"),
        ("marian", {"shortlist": "x"}, "shortlist: for Weebill models, which can restrict pieces"),
        ("recipe", {"precision": "float16"}, "precision float16: GPUs compute in it; give a GPU"),
        ("marian", {"precision": "bfloat16"}, "precision bfloat16: GPUs compute in it; give a"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(base, folder, options, message):
    with pytest.raises(InputError) as caught:
        load(base / folder, **options)
    assert message in str(caught.value) and "\n" not in str(caught.value)


GPU = "cpu:0"  # PyTorch's processor by a name that is not "cpu" takes the way of a GPU


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(loading, "check_device", lambda name: None)


def weights_of(translator):
    """Return the types of the numbers of a translator's networks."""
    networks = [engine.network for one in translator.translator.students for engine in one.engines]
    return {one.dtype for network in networks for one in network.parameters()}


def similar(found, expected):
    """Return True if all translations but at most one, a tie of rounded numbers, are equal."""
    assert any(expected)
    return sum(one == other for one, other in zip(found, expected, strict=True)) >= len(found) - 1


@pytest.fixture(scope="module")
def shortlist(base):
    """Return a shortlist that half of the pieces are missing from."""
    pieces = len(load_model(base / "recipe/float32").vocabulary)
    path = base / "shortlist.safetensors"
    every = np.tile(np.arange(2, pieces, 2, dtype=np.int32), (pieces, 1))
    save_shortlist(Shortlist(every, np.arange(2, 4, dtype=np.int32)), path)
    return path


@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_a_gpu_restricts_translations_to_a_shortlist_in_any_numbers(
    base, gpu, shortlist, precision
):
    expected = load(base / "recipe/float32", isa="portable", shortlist=shortlist)
    found = load(base / "recipe", precision, device=GPU, shortlist=shortlist)
    assert weights_of(found) == {getattr(torch, precision)}
    options = SearchOptions(beam=3, nbest=2)
    if precision != "bfloat16":  # whose 8 bits decide between near pieces of a random network
        assert similar(found.translate(TEXT), expected.translate(TEXT))
        both = (one.nbest(TEXT, options) for one in (found, expected))
        assert similar(*([hypotheses[0].text for hypotheses in some] for some in both))
    allowed = expected.translator.vocabulary.encode(expected.translate(TEXT))
    for pieces in found.translator.vocabulary.encode(found.translate(TEXT)):
        assert all(piece % 2 == 0 for piece in pieces[:-1]) or pieces in allowed
    both = sorted((base / "recipe").iterdir())
    ensemble = load(both, precision, device=GPU, shortlist=shortlist)
    if precision == "float32":
        assert ensemble.translate(TEXT) == load(both, shortlist=shortlist).translate(TEXT)
    assert weights_of(ensemble) == {getattr(torch, precision)}


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_without_a_shortlist_networks_are_cast_too(base, gpu, precision):
    cast = load_model(base / "recipe/float32")
    cast.network.to(getattr(torch, precision))
    expected = NetworkTranslator([cast.network], cast.vocabulary).translate(TEXT)
    assert load(base / "recipe", precision, device=GPU).translate(TEXT) == expected
    assert load(base / "recipe/float32", precision, device=GPU).translate(TEXT) == expected


def test_a_hugging_face_model_runs_in_the_numbers_of_a_gpu(base, gpu):
    found = load(base / "marian", "bfloat16", device=GPU)
    assert found.translator._model.dtype == torch.bfloat16
    assert all(isinstance(line, str) for line in found.translate(SENTENCES))
    scores = found.scores(SENTENCES, SENTENCES)
    expected = load(base / "marian").scores(SENTENCES, SENTENCES)
    np.testing.assert_allclose(scores, expected, rtol=0.02)


def test_a_gpu_takes_the_float32_model_of_several_or_the_only_one(base, gpu, tmp_path):
    shutil.copytree(base / "recipe/int8", tmp_path / "int8")
    of_float32 = load(base / "recipe", "float16", device=GPU)
    assert of_float32.translate(TEXT) != load(tmp_path, "float16", device=GPU).translate(TEXT)
