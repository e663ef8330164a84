"""The plain way to score gives the same scores as ours, sorted or not, and both may be timed together."""

import numpy as np
import pytest

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder
from weebill.evaluation.timing.metric_speed import Text, measure_metrics
from weebill.metric.folder import load_metric
from weebill.metric.reference_scorer import PlainScorer
from weebill.metric.scorer import Scorer


@pytest.fixture
def metric(tmp_path):
    return load_metric(make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder")))


@pytest.mark.parametrize("sort", [False, True])
def test_equal_scores(metric, sort):
    ours = Scorer(metric).score(SYSTEMS, SOURCES, REFERENCES)
    plain = PlainScorer(metric, sort=sort, batch=4).score(SYSTEMS, SOURCES, REFERENCES)
    for name in SYSTEMS:
        np.testing.assert_allclose(plain[name], ours[name], atol=1e-5)


def test_speeds_without_references(tmp_path):
    kind = "referenceless_regression_metric"
    encoder = make_encoder(tmp_path / "encoder")
    metric = load_metric(make_checkpoint(tmp_path / "metric", encoder, class_identifier=kind))
    ours = Scorer(metric).score(SYSTEMS, SOURCES)
    plain = PlainScorer(metric).score(SYSTEMS, SOURCES)
    for name in SYSTEMS:
        np.testing.assert_allclose(plain[name], ours[name], atol=1e-5)
    for references in (REFERENCES, None):  # the former for others that are timed beside it
        text = Text(SOURCES, references, SYSTEMS)
        candidates = [("A dog.", ["Ein Hund.", "Der Hund."])]
        options = {"precision": "float32", "rounds": 1}
        found = measure_metrics({"quality": metric}, text, candidates, (2,), **options)
        assert ("BLEU" in {one.metric for one in found}) == (references is not None)


def test_speeds_of_everything(metric):
    text = Text(SOURCES, REFERENCES, SYSTEMS)
    candidates = [("A dog.", ["Ein Hund.", "Der Hund.", "Hund."])]
    found = measure_metrics(
        {"whole": metric}, text, candidates, (2, 3), precision="float32", rounds=2
    )
    assert {(one.study, one.amount) for one in found if one.metric == "whole"} == {
        *(("systems", count) for count in (1, 2)),
        *(("segments", count) for count in (1, 3, 4, 6)),
        *(("candidates", count) for count in (2, 3)),
    }
    assert all(len(one.seconds) == 2 and min(one.seconds) > 0 for one in found)
