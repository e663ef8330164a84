"""Several metrics as one: mean scores of a text, and of a table that is scored in parts."""

import numpy as np
import pyarrow as pa
import pytest

from tests.metric.small import (
    REFERENCES,
    SOURCES,
    SYSTEMS,
    hyperparameters,
    make_encoder,
    random_state,
    write_checkpoint,
)
from weebill.corpus.table import read_columns, write_table
from weebill.metric import distillation_corpus
from weebill.metric.distillation_corpus import score_tuples
from weebill.metric.ensemble import Ensemble
from weebill.metric.folder import load_metric
from weebill.metric.scorer import Scorer


@pytest.fixture
def models(tmp_path):
    """Make three metrics, one of which reads no references."""
    encoder = make_encoder(tmp_path / "encoder")
    found = []
    for seed, kind in enumerate(
        ("regression_metric", "regression_metric", "referenceless_regression_metric")
    ):
        values = hyperparameters(encoder, class_identifier=kind)
        found.append(
            str(write_checkpoint(tmp_path / f"{seed}", values, random_state(values, seed)))
        )
    return found


def by_hand(models):
    """Return mean scores of each system, metric after metric."""
    found = []
    for model in models:
        scorer = Scorer(load_metric(model))
        found.append(
            scorer.score(SYSTEMS, SOURCES, REFERENCES if scorer.needs_references else None)
        )
    return {name: sum(one[name].astype(float) for one in found) / len(found) for name in SYSTEMS}


def test_the_mean_of_the_members(models):
    ensemble = Ensemble.load(models)
    found, wanted = ensemble.score(SYSTEMS, SOURCES, REFERENCES), by_hand(models)
    for name in SYSTEMS:
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-7)
        assert (
            np.abs(found[name] - Scorer(load_metric(models[2])).score(SYSTEMS, SOURCES)[name]).max()
            > 1e-3
        )
    assert len(ensemble.sha256.split("+")) == 3


def test_a_corpus_part_by_part(models, tmp_path, monkeypatch):
    """A killed run resumes after the parts that it has scored."""
    monkeypatch.setattr(distillation_corpus, "PART_ROWS", 5)
    columns = {"src": SOURCES * 2, "mt": [*SYSTEMS["good"], *SYSTEMS["bad"]], "ref": REFERENCES * 2}
    write_table(tmp_path / "tuples.parquet", pa.table(columns))
    score, calls = Ensemble.score, []

    def mortal(self, *arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return score(self, *arguments)

    monkeypatch.setattr(Ensemble, "score", mortal)
    arguments = (tmp_path / "tuples.parquet", models, "float32", "cpu", tmp_path / "scored.parquet")
    with pytest.raises(KeyboardInterrupt):
        score_tuples(*arguments)
    assert not (tmp_path / "scored.parquet").exists()
    score_tuples(*arguments)
    assert len(calls) == 4  # two of the three parts were scored before
    found = read_columns(tmp_path / "scored.parquet", ["src", "mt", "ref", "score"]).to_pydict()
    assert {name: found[name] for name in columns} == columns
    wanted = np.concatenate([*by_hand(models).values()])
    np.testing.assert_allclose(found["score"], wanted, atol=1e-6)
    assert not (tmp_path / "scored.parquet.work").exists()
