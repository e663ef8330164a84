"""Loading of any translator: the runtime for Weebill models on the processor, PyTorch for others."""

import pytest

from tests.hugging_face_models import SENTENCES, make_marian
from tests.small_models import TEXT, make_folder, make_vocabulary
from weebill.errors import InputError
from weebill.runtime.loading import load
from weebill.runtime.text import RuntimeTranslator
from weebill.translation.loading import load_translator
from weebill_runtime.options import SearchOptions


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
        ("marian", {"shortlist": "x"}, "shortlist: for the runtime, which translates by Weebill"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(base, folder, options, message):
    with pytest.raises(InputError) as caught:
        load(base / folder, **options)
    assert message in str(caught.value) and "\n" not in str(caught.value)
