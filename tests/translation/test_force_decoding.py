"""Forced scores, compared with the search's own scores and with a sum sentence by sentence."""

import numpy as np
import pytest
import torch

from tests.translation.conftest import sentence_pairs
from weebill.translation import force_decoding
from weebill.translation.force_decoding import (
    MAX_PIECES,
    load_reverse_scorer,
    mean_log_probabilities,
)
from weebill.translation.loading import load_translator
from weebill.translation.model.folder import save_model
from weebill_runtime.options import SearchOptions
from weebill_runtime.vocabulary import EOS

PAIRS = sentence_pairs()[::5]


def one_by_one(network, vocabulary, given, output):
    """Return the mean log softmax of the pieces of one sentence, by the steps of a search."""
    (source,), (target,) = vocabulary.source.encode([given]), vocabulary.target.encode([output])
    mask = torch.ones(1, len(source), dtype=torch.bool)
    state = network.start(network.encode(torch.tensor([source]), mask), mask)
    total, last = 0.0, -1
    for piece in target:
        scores, state = network.step(torch.tensor([last]), state)
        total += float(torch.log_softmax(scores[0].double(), -1)[piece])
        last = piece
    return total / len(target)


@torch.no_grad()
def test_equal_to_steps_of_the_decoder(network, vocabulary):
    network.eval()
    given, outputs = (list(side) for side in zip(*PAIRS, strict=True))
    given[3], outputs[5] = "the dog " * 9, "das Lied " * 12  # other lengths
    found = mean_log_probabilities(network, vocabulary, given, outputs)
    expected = [one_by_one(network, vocabulary, *pair) for pair in zip(given, outputs, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert len(set(found.round(6))) > len(found) // 2


@torch.no_grad()
def test_two_vocabularies(network_of_two, pair):
    given, outputs = (list(side) for side in zip(*PAIRS, strict=True))
    found = mean_log_probabilities(network_of_two, pair, given, outputs)
    expected = [one_by_one(network_of_two, pair, *one) for one in zip(given, outputs, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@torch.no_grad()
def test_long_sides_are_cut_off(network, vocabulary):
    network.eval()
    long = "das Lied " * MAX_PIECES
    (pieces,) = vocabulary.encode([long])
    cut = vocabulary.decode([[*pieces[: MAX_PIECES - 1], EOS]])[0]
    assert vocabulary.encode([cut])[0] == [*pieces[: MAX_PIECES - 1], EOS]
    found = mean_log_probabilities(network, vocabulary, [long] * 2, [long, cut])
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_the_reverse_model_scores_the_source(network, vocabulary, tmp_path):
    """A translation that the model itself finds has the score of its search."""
    save_model(tmp_path / "reverse", network, vocabulary, {})
    targets = [target for _, target in PAIRS]
    options = SearchOptions(beam=2, nbest=1, allow_unknown=True)
    found = load_translator(tmp_path / "reverse").nbest(targets, options)
    best = [hypotheses[0] for hypotheses in found]
    # Texts that encode to the same pieces again.
    same = [
        vocabulary.encode([h.text])[0] == [*h.pieces, EOS] and h.text.strip() != "" for h in best
    ]
    scores = load_reverse_scorer(tmp_path / "reverse")([h.text for h in best], targets)
    assert sum(same) >= 1
    for score, hypothesis, equal in zip(scores, best, same, strict=True):
        if equal:
            assert score == pytest.approx(hypothesis.score, rel=1e-4)


def test_a_gpus_numbers_and_batches_change_scores_by_their_rounding_alone(
    network, vocabulary, tmp_path, monkeypatch
):
    """With the name cpu:0, the CPU computes as a GPU does, in one batch of all pairs."""
    save_model(tmp_path / "model", network, vocabulary, lineage={})
    given, outputs = (list(side) for side in zip(*PAIRS, strict=True))
    expected = load_reverse_scorer(tmp_path / "model")(given, outputs)
    monkeypatch.setitem(force_decoding.BATCHES, "cpu", force_decoding.BATCHES["cuda"])
    monkeypatch.setitem(force_decoding.SLICES, "cpu", 7)
    for precision, tolerance in (("float32", 1e-5), ("float16", 2e-3), ("bfloat16", 2e-2)):
        scorer = load_reverse_scorer(tmp_path / "model", "cpu:0", precision=precision)
        np.testing.assert_allclose(scorer(given, outputs), expected, rtol=tolerance)
        error = np.abs(scorer(given, outputs) / expected - 1).max()
        assert precision == "float32" or error > 1e-5  # another type


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("precision", "tolerance"), [("float32", 5e-3), ("float16", 1e-2), ("bfloat16", 5e-2)]
)
def test_a_gpu_scores_nearly_as_the_processor(network, vocabulary, tmp_path, precision, tolerance):
    save_model(tmp_path / "model", network, vocabulary, lineage={})
    given, outputs = (list(side) for side in zip(*PAIRS, strict=True))
    expected = load_reverse_scorer(tmp_path / "model")(given, outputs)
    found = load_reverse_scorer(tmp_path / "model", "cuda", precision=precision)(given, outputs)
    np.testing.assert_allclose(found, expected, rtol=tolerance)
