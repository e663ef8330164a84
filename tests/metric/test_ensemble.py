"""Ensembles of metrics."""

import numpy as np

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_members
from weebill.metric.ensemble import Ensemble
from weebill.metric.scorer import Scorer


def test_the_mean_of_the_members(tmp_path):
    models = make_members(tmp_path)
    ensemble, members = Ensemble(models), []
    for model in models:
        scorer = Scorer(model)
        others = REFERENCES if scorer.needs_references else None
        members.append(scorer.score(SYSTEMS, SOURCES, others))
    found = ensemble.score(SYSTEMS, SOURCES, REFERENCES)
    for name in SYSTEMS:
        wanted = sum(one[name].astype(float) for one in members) / 3
        np.testing.assert_allclose(found[name], wanted, atol=1e-7)
        assert np.abs(found[name] - members[2][name]).max() > 1e-3
    assert len(ensemble.sha256.split("+")) == 3
