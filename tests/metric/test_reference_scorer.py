"""The plain scorer gives the fast scorer's scores, sorted or not, with and without references."""

from itertools import chain

import numpy as np
import pytest

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder
from weebill.metric.folder import load_metric
from weebill.metric.reference_scorer import PlainScorer
from weebill.metric.scorer import Scorer


@pytest.fixture
def metric(tmp_path):
    return load_metric(make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder")))


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("cache", [False, True])
def test_equal_scores(metric, sort, cache, monkeypatch):
    ours = Scorer(metric).score(SYSTEMS, SOURCES, REFERENCES)
    scorer, encoded = PlainScorer(metric, sort=sort, cache=cache, batch=4), []
    encode = scorer._encoded
    monkeypatch.setattr(scorer, "_encoded", lambda texts: encoded.extend(texts) or encode(texts))
    for _ in range(2):
        plain = scorer.score(SYSTEMS, SOURCES, REFERENCES)
        for name in SYSTEMS:
            np.testing.assert_allclose(plain[name], ours[name], atol=1e-5)
    given = [*chain(*SYSTEMS.values()), *[*SOURCES, *REFERENCES] * len(SYSTEMS)]
    # A call of `score` begins with an empty cache.
    assert sorted(encoded) == sorted(2 * (list(set(given)) if cache else given))


def test_equal_scores_without_references(tmp_path):
    kind = "referenceless_regression_metric"
    encoder = make_encoder(tmp_path / "encoder")
    metric = load_metric(make_checkpoint(tmp_path / "metric", encoder, class_identifier=kind))
    ours = Scorer(metric).score(SYSTEMS, SOURCES)
    plain = PlainScorer(metric).score(SYSTEMS, SOURCES)
    for name in SYSTEMS:
        np.testing.assert_allclose(plain[name], ours[name], atol=1e-5)
