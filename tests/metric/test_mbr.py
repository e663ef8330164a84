"""Minimum Bayes risk: pairs compared with single estimates, choices with an explicit mean."""

import resource
import types

import numpy as np
import pytest
import torch
from sacrebleu.metrics import CHRF

from tests.forking import fork
from tests.metric.small import REFERENCES, SOURCES, make_checkpoint, make_encoder
from weebill.benchmarks.metric.checkpoint import HYPERPARAMETERS
from weebill.errors import InputError
from weebill.metric import mbr
from weebill.metric import pairs as pairwise
from weebill.metric.architecture import Architecture
from weebill.metric.folder import load_metric
from weebill.metric.mbr import (
    MetricUtility,
    SentenceUtility,
    decode,
    decode_all,
)
from weebill.metric.network import Estimator, features
from weebill.metric.pairs import PairwiseEstimator
from weebill.metric.scorer import Scorer

CANDIDATES = [*REFERENCES, "Ja.", "Nein.", "Der Vogel singt.", "Ja.", "Ein Hund."]
KINDS = ["regression_metric", "referenceless_regression_metric"]


@pytest.fixture(scope="module")
def metrics(tmp_path_factory):
    folder = tmp_path_factory.mktemp("metrics")
    encoder = make_encoder(folder / "encoder")
    return {
        kind: load_metric(make_checkpoint(folder / kind, encoder, class_identifier=kind))
        for kind in KINDS
    }


def table(scorer: Scorer, source: str, candidates: list[str], references: list[str]) -> np.ndarray:
    """Return the score of every candidate against every reference, pair by pair."""
    given = references if scorer.needs_references else [None]
    return np.array(
        [
            [
                float(scorer.score({"one": [c]}, [source], r and [r])["one"][0])
                for r in given
            ]
            for c in candidates
        ]
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pairs", [7, 1024])
def test_pairs_are_scored_as_one_by_one(metrics, kind, pairs, monkeypatch):
    monkeypatch.setattr(pairwise, "PAIRS", pairs)
    scorer = Scorer(metrics[kind])
    texts = list(dict.fromkeys(CANDIDATES))
    utility = MetricUtility(scorer)
    for some in (texts, texts[2:5]):
        found = utility.of_candidates(SOURCES[0], some, texts)
        np.testing.assert_allclose(found, table(scorer, SOURCES[0], some, texts), atol=2e-6)


def test_products_in_bfloat16_are_near(metrics):
    network = metrics[KINDS[0]].network
    draw = torch.Generator().manual_seed(1)
    vectors = torch.randn(9, 24, generator=draw)
    t, s = vectors[:8], vectors[8]
    exact = torch.stack(
        [network.estimator(features(t, s.expand_as(t), r.expand_as(t))) for r in t], dim=1
    )
    with torch.inference_mode():
        found = PairwiseEstimator(network, torch.bfloat16).scores(t, t, s)
    torch.testing.assert_close(found, exact, atol=0.05, rtol=0)
    assert (found - exact).abs().max() > 0
    assert (found != found.bfloat16()).any()  # scores are not rounded to bfloat16


def peak() -> float:
    """Return the peak memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.parametrize(
    ("width", "hidden", "mib"),
    [(1024, [64, 32], 100), (32, HYPERPARAMETERS["hidden_sizes"][:1], 250)],
)
def test_100_candidates_take_little_memory(width, hidden, mib):
    """With XLM-R-large, features or hidden states of all pairs at once would take more than twice as much."""
    values = HYPERPARAMETERS | {"hidden_sizes": hidden}
    architecture = Architecture.from_hyperparameters(values, "hyperparameters")
    estimator = Estimator(architecture, width)
    network = types.SimpleNamespace(architecture=architecture, estimator=estimator)
    vectors = torch.randn(101, width)

    def score():
        pairs, before = PairwiseEstimator(network, torch.bfloat16), peak()
        with torch.inference_mode():
            found = pairs.scores(vectors[:100], vectors[:100], vectors[100])
        assert found.shape == (100, 100) and peak() - before < mib

    process = fork(score)
    process.join()
    assert process.exitcode == 0


@pytest.mark.parametrize("beside_itself", [True, False])
def test_the_choice_is_that_of_the_largest_mean(metrics, beside_itself):
    scorer = Scorer(metrics[KINDS[0]])
    all_pairs = table(scorer, SOURCES[1], CANDIDATES, CANDIDATES)  # also repeated candidates
    if not beside_itself:
        all_pairs[np.diag_indices(len(CANDIDATES))] = np.nan
    expected = dict(zip(CANDIDATES, np.nanmean(all_pairs, axis=1), strict=True))
    found = decode(SOURCES[1], CANDIDATES, MetricUtility(scorer), beside_itself=beside_itself)
    assert {one.text: pytest.approx(one.utility, abs=2e-6) for one in found} == expected
    assert [one.utility for one in found] == sorted((one.utility for one in found), reverse=True)


def test_a_cheap_utility_chooses_whom_to_look_at(metrics):
    scorer = Scorer(metrics[KINDS[0]])
    chrf = SentenceUtility("chrf")
    ranked = decode(SOURCES[1], CANDIDATES, chrf)
    whole = decode(SOURCES[1], CANDIDATES, MetricUtility(scorer))
    some = decode(SOURCES[1], CANDIDATES, MetricUtility(scorer), first=chrf, kept=4)
    kept = {one.text for one in ranked[:4]}
    assert [one.text for one in some] == [one.text for one in whole if one.text in kept]
    utilities = {one.text: one.utility for one in whole}
    assert all(one.utility == pytest.approx(utilities[one.text], abs=2e-6) for one in some)


def test_sentence_scores_are_sacrebleus():
    found = SentenceUtility("chrf").of_candidates("", ["Der Hund."], ["Ein Hund.", "Der Hund."])
    expected = CHRF().sentence_score("Der Hund.", ["Ein Hund."]).score / 100
    assert found.tolist() == [[pytest.approx(expected), pytest.approx(1.0)]]


def test_one_candidate_is_chosen_and_none_refused(metrics):
    utility = MetricUtility(Scorer(metrics[KINDS[0]]))
    (only,) = decode("One.", ["Eins."], utility, beside_itself=False)
    assert only.text == "Eins."
    with pytest.raises(InputError, match="no candidate to choose from"):
        decode("One.", [], utility)
    with pytest.raises(InputError, match="utility 'chrF2', expected bleu, chrf"):
        SentenceUtility("chrF2")


@pytest.mark.parametrize("window", [1, 4096])
@pytest.mark.parametrize("counts", [[0], [2, 0], [2, 0, 0], [0, 2]])
def test_sources_without_candidates_are_refused(metrics, counts, window, monkeypatch):
    """A source without candidates is refused at any position, also at the end."""
    monkeypatch.setattr(mbr, "WINDOW", window)
    candidates = [CANDIDATES[:count] for count in counts]
    for utility in (SentenceUtility("chrf"), MetricUtility(Scorer(metrics[KINDS[0]]))):
        with pytest.raises(InputError, match="no candidate to choose from"):
            list(decode_all(SOURCES[: len(counts)], candidates, utility))


def test_bleu_has_the_tokens_of_its_language():
    """With words as tokens, each of these Japanese sentences is one token that no other sentence shares."""
    texts = (
        ["猫は部屋の中で眠っています。", "犬が外を走っていた。"],
        ["猫は部屋の中で静かに眠っています。"],
    )
    near, far = SentenceUtility("bleu", "ja").of_candidates("", *texts)[:, 0]
    assert near > 0.4 > 0.2 > far
    assert np.ptp(SentenceUtility("bleu").of_candidates("", *texts)) == 0


def test_the_mean_of_the_references(metrics):
    """One reference is its own mean; a repeated candidate counts twice in the mean."""
    scorer = Scorer(metrics[KINDS[0]])
    whole, mean = MetricUtility(scorer), MetricUtility(scorer, aggregate=True)
    some = CANDIDATES[:4]
    one = whole.of_candidates(SOURCES[0], some, some[:1])
    np.testing.assert_allclose(mean.of_candidates(SOURCES[0], some, some[:1]), one, atol=2e-6)
    twice = mean.of_candidates(SOURCES[0], some, [some[0], some[0], some[1]])[:, 0]
    found = {one.text: one.utility for one in decode(SOURCES[0], [some[0], *some[:2]], mean)}
    assert found == pytest.approx(dict(zip(some[:2], twice.tolist(), strict=False)), abs=2e-6)
