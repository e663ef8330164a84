"""Loading of any translator: the runtime for Weebill models on the CPU, PyTorch for others."""

import shutil

import numpy as np
import pytest
import torch

from tests import pipes
from tests.pipes import WITHOUT_END
from tests.small_models import TEXT, make_folder, make_vocabulary
from weebill.errors import InputError
from weebill.rehearsal.making.translators import SENTENCES, make_marian
from weebill.runtime import loading
from weebill.runtime.loading import load
from weebill.runtime.shortlist import save_shortlist
from weebill.runtime.text import RuntimeTranslator
from weebill.translation.loading import load_translator
from weebill.translation.model.folder import load_model
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


@pytest.mark.parametrize("kind", WITHOUT_END)
@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("recipe/float32", "model.safetensors"),
        ("recipe/float32", "vocab.spm"),
        ("recipe/float32", "config.json"),
        ("marian", "model.safetensors"),
        ("marian", "generation_config.json"),
        ("marian", "source.spm"),
    ],
)
def test_no_file_of_a_model_is_waited_for(base, tmp_path, folder, name, kind):
    shutil.copytree(base / folder, tmp_path / "model")
    pipes.replace(tmp_path / "model" / name, kind)
    with pytest.raises(InputError, match=f"{name}: not a plain file; put"), pipes.within(60):
        load(tmp_path / "model")


def test_a_shortlist_is_not_waited_for(base, tmp_path):
    pipes.replace(tmp_path / "shortlist", "pipe")
    with pytest.raises(InputError, match="shortlist: not a plain file"), pipes.within(60):
        load(base / "recipe/int8", shortlist=tmp_path / "shortlist")


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


CARD = pytest.param("cuda", marks=pytest.mark.gpu)
BEAM = SearchOptions(beam=3, nbest=2)
# Largest relative differences of scores, by rounding: float32 and TF32; 11 bits; 8 bits.
TOLERANCE = {"float32": 5e-3, "float16": 1e-2, "bfloat16": 6e-2}


@pytest.fixture(params=["cpu:0", CARD])
def gpu(request, monkeypatch):
    """Return a GPU, or PyTorch's CPU with a name other than "cpu", with which it computes as a GPU does."""
    if request.param == "cpu:0":
        monkeypatch.setattr(loading, "check_device", lambda name: None)
    return request.param


def weights_of(translator):
    """Return the types and devices of the weights of a translator's networks."""
    networks = [engine.network for one in translator.translator.students for engine in one.engines]
    return {(one.dtype, one.device.type) for network in networks for one in network.parameters()}


def differing(found, expected, most=1):
    """Return the pairs of different lines, but [] for at most `most` pairs, which may be ties by rounding."""
    assert any(expected)
    pairs = [pair for pair in zip(found, expected, strict=True) if pair[0] != pair[1]]
    return pairs if len(pairs) > most else []


@pytest.fixture(scope="module")
def shortlist(base):
    """Return a shortlist without half of the pieces, among them some of each translation."""
    pieces = len(load_model(base / "recipe/float32").vocabulary)
    path = base / "shortlist.safetensors"
    every = np.tile(np.arange(3, pieces, 2, dtype=np.int32), (pieces, 1))
    save_shortlist(Shortlist(every, np.array([5], dtype=np.int32)), path)
    return path


@pytest.fixture(scope="module", params=["one", "ensemble"])
def folders(base, request):
    every = sorted((base / "recipe").iterdir())
    return every if request.param == "ensemble" else every[:1]


@pytest.fixture(scope="module", params=[False, True], ids=["whole", "shortlist"])
def by_processor(request, folders, shortlist):
    """Return a shortlist or None, and the scores, translations and best translations of a processor."""
    chosen = shortlist if request.param else None
    translator = load(folders, isa="portable", shortlist=chosen)
    best = [hypotheses[0].text for hypotheses in translator.nbest(TEXT, BEAM)]
    return chosen, translator.scores(TEXT, TEXT[::-1]), translator.translate(TEXT), best


@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_a_gpu_translates_nearly_as_the_processor(gpu, folders, by_processor, precision):
    """Pieces outside the shortlist are never output; scores differ by the precision's rounding."""
    listed, scores, *expected = by_processor
    named = None if precision == "float32" else precision
    found = load(folders, named, device=gpu, shortlist=listed)
    assert weights_of(found) == {(getattr(torch, precision), gpu.split(":")[0])}
    np.testing.assert_allclose(found.scores(TEXT, TEXT[::-1]), scores, rtol=TOLERANCE[precision])
    hypotheses = found.nbest(TEXT, BEAM)
    lines = found.translate(TEXT), [some[0].text for some in hypotheses]
    if precision != "bfloat16":  # its 8 bits decide near ties of a random network
        for some, others in zip(lines, expected, strict=True):
            assert not differing(some, others, 2 if precision == "float32" else 3)
    if listed:
        pieces = {piece for some in hypotheses for piece in some[0].pieces}
        assert pieces and all(piece % 2 for piece in pieces)


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_a_recipes_folder_gives_its_float32_model_to_a_gpu(base, gpu, tmp_path, precision):
    """A folder with a single model gives this model; a model's own folder gives itself."""
    named = load(base / "recipe/float32", precision, device=gpu).scores(TEXT, TEXT)
    assert (
        load(base / "recipe", precision, device=gpu).scores(TEXT, TEXT).tolist() == named.tolist()
    )
    shutil.copytree(base / "recipe/int8", tmp_path / "int8")
    other = load(base / "recipe/int8", precision, device=gpu).scores(TEXT, TEXT)
    assert load(tmp_path, precision, device=gpu).scores(TEXT, TEXT).tolist() == other.tolist()
    assert other.tolist() != named.tolist()


def test_a_hugging_face_model_runs_in_the_numbers_of_a_gpu(base, gpu):
    found = load(base / "marian", "bfloat16", device=gpu)
    assert found.translator._model.dtype == torch.bfloat16
    assert found.translator._model.device.type == gpu.split(":")[0]
    assert len(found.translate(SENTENCES)) == len(SENTENCES)
    scores = found.scores(SENTENCES, SENTENCES)
    expected = load(base / "marian").scores(SENTENCES, SENTENCES)
    np.testing.assert_allclose(scores, expected, rtol=0.02)
