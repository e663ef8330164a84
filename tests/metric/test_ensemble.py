"""Ensembles of metrics, scored together."""

import numpy as np

from tests.metric.small import (
    REFERENCES,
    SOURCES,
    SYSTEMS,
    make_checkpoint,
    make_encoder,
    make_members,
)
from weebill.metric.ensemble import Ensemble
from weebill.metric.reference_scorer import PlainScorer
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


def test_a_member_may_read_references_alone(tmp_path):
    """The plain scorer, which is timed for comparison, gives the same scores."""
    values = {"class_identifier": "unified_metric", "input_segments": ["mt", "ref"]}
    model = make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"), **values)
    found = Ensemble([str(model)]).score(SYSTEMS, SOURCES, REFERENCES)
    scorer = Scorer(model)
    plain = PlainScorer(scorer.metric, sort=True).score(SYSTEMS, references=REFERENCES)
    wanted = scorer.score(SYSTEMS, references=REFERENCES)
    for name in SYSTEMS:
        np.testing.assert_array_equal(found[name], wanted[name])
        np.testing.assert_allclose(plain[name], wanted[name], atol=2e-6)
