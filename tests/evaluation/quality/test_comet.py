"""COMET of several variants: means of the scorer's scores, their intervals, and paired tests."""

import numpy as np
import pytest

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder
from weebill.errors import InputError
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.comet import caching_scorer, measure_comet
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.metric.folder import load_metric
from weebill.metric.scorer import Scorer

WHOLE, CUT = Variant.parse("tiny/unpruned/float32"), Variant.parse("tiny/steady/int8")


@pytest.fixture
def scorer(tmp_path):
    return Scorer(load_metric(make_checkpoint(tmp_path / "m", make_encoder(tmp_path / "e"))))


def measured(scorer, translations):
    hashes = dict.fromkeys(translations, "abc")
    test_set = TestSet("news", SOURCES, REFERENCES)
    return measure_comet(scorer, test_set, translations, bootstrap=200, model_sha256=hashes, seed=1)


def test_scores_intervals_and_tests(scorer):
    rows = measured(scorer, {WHOLE: SYSTEMS["good"], CUT: SYSTEMS["bad"]})
    alone = scorer.score(SYSTEMS, SOURCES, REFERENCES)
    for row, name in zip(rows, SYSTEMS, strict=True):
        assert row.score == pytest.approx(100 * alone[name].astype(np.float64).mean())
        assert row.low < row.score < row.high and row.metric == "COMET"
    assert rows[0].compared_with is None and rows[0].p_value is None
    assert rows[1].compared_with == str(WHOLE) and 0 < rows[1].p_value <= 1
    same = measured(scorer, {WHOLE: SYSTEMS["good"], CUT: SYSTEMS["good"]})
    assert same[1].p_value == 1


def test_line_counts(scorer):
    with pytest.raises(InputError, match="tiny/steady/int8 on 'news'"):
        measured(scorer, {WHOLE: SYSTEMS["good"], CUT: SYSTEMS["bad"][:3]})


@pytest.mark.parametrize(
    ("texts", "cached"),
    [(None, True), (["mt", "src"], False), (["mt", "ref"], False), (["mt", "src", "ref"], False)],
)
def test_a_model_of_any_class_is_given_the_texts_that_it_reads(tmp_path, texts, cached):
    """An experiment always has sources, references and a file for vectors, but not every class uses all of them."""
    joint = {"class_identifier": "unified_metric", "input_segments": texts}
    values = {} if texts is None else joint
    metric = load_metric(make_checkpoint(tmp_path / "m", make_encoder(tmp_path / "e"), **values))
    scorer = caching_scorer(metric, "float32", "cpu", tmp_path / "vectors")
    (row,) = measured(scorer, {WHOLE: SYSTEMS["good"]})
    given = {"src": SOURCES, "ref": REFERENCES}
    read = (given[name] if name in (texts or given) else None for name in given)
    wanted = Scorer(metric).score({"": SYSTEMS["good"]}, *read)[""]
    assert row.score == pytest.approx(100 * wanted.astype(np.float64).mean())
    assert (tmp_path / "vectors").is_file() == cached
