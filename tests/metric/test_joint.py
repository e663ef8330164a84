"""Models of all classes of unbabel-comet, written by its own code: equal scores, parts of scores and errors."""

import logging

import numpy as np
import pytest
import torch

from tests.metric.classes import CLASSES, FORMS, forms
from tests.metric.small import REFERENCES, SOURCES, SYSTEMS
from weebill.errors import InputError
from weebill.metric.cache import VectorCache
from weebill.metric.folder import load_metric
from weebill.metric.joint import error_spans
from weebill.metric.mbr import MetricUtility
from weebill.metric.reference_scorer import PlainScorer
from weebill.metric.scorer import Scorer


def judge(scorer, form):
    """Score the tests' systems with sources, references or both."""
    given = FORMS[form]
    return scorer.judge(
        SYSTEMS, SOURCES if "src" in given else None, REFERENCES if "ref" in given else None
    )


@pytest.mark.parametrize("name", CLASSES)
def test_equal_to_unbabel_comet(comet, name):
    path, answers = comet["theirs"][name]
    scorer = Scorer(path, batch_pieces=90)
    for form, wanted in zip(forms(name), answers, strict=True):
        found = judge(scorer, form).values()
        scores = np.concatenate([one.scores for one in found])
        assert scores.std() > 1e-4
        np.testing.assert_allclose(scores, wanted.pop("scores"), atol=1e-5)
        errors = wanted.pop("error_spans", None)
        if errors is not None:
            assert any(errors)
            for ours, theirs in zip((e for one in found for e in one.errors), errors, strict=True):
                assert [
                    {**one, "confidence": pytest.approx(one["confidence"], abs=1e-5)}
                    for one in theirs
                ] == ours
        parts = [one.parts for one in found]
        assert all(set(one) == set(wanted) for one in parts)
        for key, values in wanted.items():
            np.testing.assert_allclose(
                np.concatenate([one[key] for one in parts]), values, atol=1e-5
            )


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
@pytest.mark.parametrize("name", ["ranking", "unite", "kiwi-words", "kiwi-xl", "unite-rembert"])
def test_fewer_bits_are_near(comet, name, precision):
    path, _ = comet["theirs"][name]
    exact, rounded = (judge(Scorer(path, one), forms(name)[0]) for one in ("float32", precision))
    for system in SYSTEMS:
        np.testing.assert_allclose(rounded[system].scores, exact[system].scores, atol=0.01)
        assert (rounded[system].scores != exact[system].scores).any()


@pytest.mark.parametrize("name", ["unite", "unite-bert", "kiwi-xl", "ranking-max", "unite-twice"])
def test_the_plain_scorer_and_mbr_are_equal(comet, name):
    """The plain scorer pads and uses the library's encoder; minimum Bayes risk scores all pairs of a source."""
    metric = load_metric(comet["theirs"][name][0])
    scorer, texts = Scorer(metric), metric.network.architecture.texts
    own = {"mt": SYSTEMS["good"], "src": SOURCES, "ref": REFERENCES}
    given = (own[key] if key in texts else None for key in ("src", "ref"))
    wanted = scorer.score({"": own["mt"]}, *given)[""]
    with torch.inference_mode():
        found = PlainScorer(metric).estimates([own[key] for key in texts])
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    candidates = SYSTEMS["good"][:3]
    table = MetricUtility(scorer).of_candidates(SOURCES[0], candidates, candidates)
    for row, candidate in enumerate(candidates):
        for column, reference in enumerate(candidates if "ref" in texts else [None]):
            one = scorer.score(
                {"": [candidate]},
                [SOURCES[0]] if "src" in texts else None,
                None if reference is None else [reference],
            )
            assert table[row, column] == pytest.approx(one[""][0], abs=2e-6)


def test_a_long_source_is_logged_once_for_all_pairs_of_its_candidates(comet, caplog):
    scorer = Scorer(comet["theirs"]["unite"][0])
    source, candidates = " ".join(SOURCES * 9), SYSTEMS["good"][:3]
    with caplog.at_level(logging.WARNING):
        MetricUtility(scorer).of_candidates(source, candidates, candidates)
        (line,) = caplog.messages
        assert line.startswith("candidates of ") and ":1: " in line
        caplog.clear()
        scorer.score({"x": candidates}, [source] * 3, candidates)
    assert [line.partition(" ")[0] for line in caplog.messages] == ["x:1:", "x:2:", "x:3:"]


def test_what_is_given_and_what_is_not(comet):
    unite, kiwi, twice = (
        Scorer(comet["theirs"][name][0]) for name in ("unite", "kiwi", "unite-twice")
    )
    with pytest.raises(InputError, match="compares with sources or references; give them"):
        unite.score(SYSTEMS)
    with pytest.raises(InputError, match="reads no references; leave them out"):
        kiwi.score(SYSTEMS, SOURCES, REFERENCES)
    with pytest.raises(InputError, match="compares with references; give them"):
        twice.score(SYSTEMS)
    with pytest.raises(InputError, match="encodes the texts of a segment together"):
        Scorer(comet["theirs"]["kiwi"][0], cache=VectorCache())
    with pytest.raises(InputError, match="no vectors of references"):
        MetricUtility(unite, aggregate=True)


def test_errors_with_several_references(comet):
    scorer = Scorer(comet["theirs"]["xcomet"][0])
    each = {"a": REFERENCES, "b": REFERENCES[::-1]}
    both = scorer.judge(SYSTEMS, SOURCES, each)["bad"]
    alone = {name: scorer.judge(SYSTEMS, SOURCES, lines)["bad"] for name, lines in each.items()}
    mean = (alone["a"].scores.astype(float) + alone["b"].scores) / 2
    np.testing.assert_allclose(both.scores, mean, atol=1e-6)
    for row, errors in enumerate(both.errors):
        wanted = [
            error | {"reference": name} for name, one in alone.items() for error in one.errors[row]
        ]
        assert errors == wanted


def test_errors_of_labels():
    """Counted by hand: an error begins a span and a correct piece ends it; a span without such an end is lost."""
    labels, places = [0, 2, 1, 0, 3, 3], [(0, 0), (0, 2), (2, 5), (5, 6), (7, 9), (9, 10)]
    shares = torch.full((6, 4), 0.1)
    shares[range(6), labels] = torch.tensor([0.7, 0.6, 0.5, 0.7, 0.7, 0.7])
    ((pieces, severity, confidence, where),) = error_spans(
        shares, places, ("minor", "major", "critical")
    )
    assert (pieces, severity, where) == (range(1, 3), "major", (0, 5))
    assert confidence == pytest.approx(0.55)
