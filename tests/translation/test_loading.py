"""Translation of text: order, blank lines, ensembles, and folders without a model."""

import pytest

from tests.small_models import TEXT, make_folder, make_vocabulary
from weebill.errors import InputError
from weebill.files import content_hash
from weebill.translation.loading import load_translator
from weebill.translation.model.folder import load_model
from weebill.translation.search import search
from weebill_runtime.options import SearchOptions


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    vocabulary = make_vocabulary(base / "vocab.spm")
    return [make_folder(base / f"m{seed}", vocabulary, seed) for seed in range(2)]


def test_translations_are_in_the_order_of_the_input(folders):
    translator = load_translator(folders[0])
    sentences = ["", *TEXT, "  ", TEXT[0] * 3]
    together = translator.translate(sentences, SearchOptions(batch_size=4))
    assert together == [translator.translate([sentence])[0] for sentence in sentences]
    assert together[0] == together[7] == ""
    assert len(set(together)) > 4


def test_nbest_is_the_search_of_the_network(folders):
    """Scores and pieces are those of the search; texts are decoded pieces."""
    translator = load_translator(folders[0])
    model = load_model(folders[0])
    options = SearchOptions(beam=3, nbest=3)
    expected = search([model.network], model.vocabulary.encode(TEXT), options)
    for found, candidates in zip(translator.nbest(TEXT, options), expected, strict=True):
        assert [h.pieces for h in found] == [c.tokens for c in candidates]
        assert [h.score for h in found] == [c.score for c in candidates]
        assert [h.text for h in found] == model.vocabulary.decode([list(h.pieces) for h in found])
    best = [found[0].text for found in translator.nbest(TEXT, options)]
    assert translator.translate(TEXT, options) == best


def test_an_ensemble_translates_as_its_averaged_networks(folders):
    networks = [load_model(folder).network for folder in folders]
    vocabulary = load_model(folders[0]).vocabulary
    options = SearchOptions(beam=2)
    expected = search(networks, vocabulary.encode(TEXT), options)
    found = load_translator(folders).nbest(TEXT, options)
    assert [h[0].pieces for h in found] == [c[0].tokens for c in expected]


def test_an_ensemble_needs_one_vocabulary(folders, tmp_path):
    other = make_folder(tmp_path / "other", make_vocabulary(tmp_path / "v.spm", size=55))
    with pytest.raises(InputError, match=r"other: its vocabulary .* an ensemble shares one"):
        load_translator([folders[0], other])


def test_what_is_no_model_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere: no such model folder"):
        load_translator(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"no config\.json"):
        load_translator(tmp_path)


def test_the_hash_of_a_folder_follows_the_weights(folders):
    assert content_hash(folders[0]) == content_hash(folders[0]) != content_hash(folders[1])
