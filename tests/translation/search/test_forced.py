"""Scores of given translations, compared with scores of the search and with a sum over pieces."""

import math

import numpy as np
import pytest
import torch

from tests.small_models import TEXT, make_folder, make_vocabulary
from weebill.runtime.shortlist import save_shortlist
from weebill.runtime.text import load_runtime
from weebill.translation.loading import load_models, load_translator
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import EOS


@pytest.fixture(scope="module", params=["ssru", "attention"])
def folders(request, tmp_path_factory):
    base = tmp_path_factory.mktemp(request.param)
    vocabulary = make_vocabulary(base / "vocab.spm")
    return [make_folder(base / str(seed), vocabulary, seed, request.param) for seed in range(2)]


@pytest.fixture(scope="module")
def translators(folders):
    """Return translators with one model and with two."""

    def made(folders):
        by_runtime = [load_runtime(folders, isa) for isa in (None, "portable")]
        return [load_translator(folders), *by_runtime, load_runtime(folders, threads=3)]

    return {count: made(folders[:count]) for count in (1, 2)}


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("power", [0.0, 0.6, 1.0])
def test_a_found_translation_has_the_score_of_its_search(translators, count, power):
    options = SearchOptions(
        beam=3, nbest=2, length_normalisation=power, length_factor=0.5, allow_unknown=True
    )
    for translator in translators[count]:
        found = translator.nbest(TEXT, options)
        pairs = [(text, one) for text, some in zip(TEXT, found, strict=True) for one in some]
        sources = translator.vocabulary.encode([text for text, _ in pairs])
        targets = [[*one.pieces, EOS] for _, one in pairs]
        scores = translator._force_decode(sources, targets, options)
        np.testing.assert_allclose(scores, [one.score for _, one in pairs], rtol=1e-4)


@torch.no_grad()
def test_the_score_is_the_mean_over_pieces(folders):
    """The expected score is the mean of the pieces' log softmax, from the network's steps, sentence by sentence."""
    (model,) = load_models(folders[0])
    outputs = [*TEXT[1:], TEXT[0]]
    found = load_runtime(folders[0]).scores(TEXT, outputs)
    for text, output, score in zip(TEXT, outputs, found, strict=True):
        (source,), (target,) = (model.vocabulary.encode([side]) for side in (text, output))
        mask = torch.ones(1, len(source), dtype=torch.bool)
        memory = model.network.encode(torch.tensor([source]), mask)
        given = torch.tensor([[-1, *target[:-1]]])
        logits = model.network.logits(model.network.decode(given, memory, mask))[0].double()
        log_p = logits.log_softmax(-1)[range(len(target)), target]
        assert score == pytest.approx(float(log_p.mean()), rel=1e-4)


def test_an_empty_sentence_has_only_the_empty_translation(translators):
    for translator in translators[2]:
        scores = translator.scores(["", " ", "", TEXT[0]], ["", "", "Hund", ""])
        assert scores[:3].tolist() == [0.0, 0.0, -math.inf] and -math.inf < scores[3] < 0
        assert translator.scores([], []).shape == (0,)


def test_sentences_are_cut_as_in_translation(translators, monkeypatch):
    for translator in translators[2]:
        cuts = []
        monkeypatch.setattr(translator, "on_cut", cuts.append)
        options = SearchOptions(max_source_tokens=5)
        found = translator.scores([TEXT[0], TEXT[2]], TEXT[:2], options)
        whole = translator.scores([TEXT[0], TEXT[2]], TEXT[:2])
        assert [cut.sentence for cut in cuts] == [0, 1] and cuts[0].kept == 5
        assert (found != whole).all()


def test_a_shortlist_does_not_concern_given_translations(folders, tmp_path):
    (model,) = load_models(folders[0])
    count = len(model.vocabulary)
    narrow = Shortlist(
        np.zeros((count, 1), dtype=np.int64), np.array([0, 1, 2]), model.vocabulary.sha256
    )
    save_shortlist(narrow, tmp_path / "shortlist.safetensors")
    found = load_runtime(folders[0], shortlist=tmp_path / "shortlist.safetensors")
    before = found.translate(TEXT)
    np.testing.assert_array_equal(
        found.scores(TEXT, TEXT), load_runtime(folders[0]).scores(TEXT, TEXT)
    )
    assert found.translate(TEXT) == before
