"""Robustness by its definition: shares and drops by hand for invented scores."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from weebill.errors import InputError
from weebill.evaluation.quality.robustness import measure_robustness
from weebill.metric.damaged_translations import damaged_table
from weebill.metric.judged_set import JudgedSet, MetricScores


@pytest.fixture
def judged():
    rows = [
        ("a", "en-de 0", "Pay 12.", "Zahle 12.", "Zahle 12.", 1.0),
        ("b", "en-de 0", "Pay 12.", "Zahle 12.", "Zahl 12.", 0.5),
        ("a", "en-de 1", "Pay.", "Zahle.", "Zahle.", 0.7),
        ("b", "en-de 2", "Pay 34.", "Zahle 34.", "Bitte zahle 34.", 0.2),
    ]
    names = ["system", "segment", "src", "ref", "mt", "score"]
    return JudgedSet("news", pd.DataFrame(rows, columns=names), "mqm", 4)


@pytest.fixture
def damaged(judged, tmp_path):
    """Return the set of damaged translations (only their numbers can be damaged), read from its table."""
    (tmp_path / "damaged.tsv").write_text(damaged_table(judged, 10, seed=1), encoding="utf-8")
    entry = {
        "table": tmp_path / "damaged.tsv",
        "score": "score",
        "statistic": "mqm",
        "humans": True,
    }
    return JudgedSet.read("news", entry)


def test_the_table_has_the_damaged_rows(judged, damaged):
    table = damaged.judgements
    assert table["system"].tolist() == ["number"] * 3
    assert table["segment"].tolist() == ["en-de 0", "en-de 1", "en-de 3"]
    assert table["ref"].tolist() == ["Zahle 12.", "Zahle 12.", "Zahle 34."]
    assert table["src"].tolist() == ["Pay 12.", "Pay 12.", "Pay 34."]
    whole = judged.judgements["mt"].iloc[[0, 1, 3]].tolist()
    assert all(new != old for new, old in zip(table["mt"], whole, strict=True))


def test_a_set_that_allows_no_damage_is_refused(judged):
    plain = dataclasses.replace(judged, judgements=judged.judgements.iloc[[2]])
    with pytest.raises(
        InputError, match=r"news: no translation has .*; remove evaluation\.robustness"
    ):
        damaged_table(plain, 10, seed=1)


def test_shares_and_drops(judged, damaged):
    whole = MetricScores("small", "whole", np.array([0.8, 0.6, 0.2, 0.4]))
    after = MetricScores("small", "after", np.array([0.5, 0.6, 0.5]))  # lower, equal, higher
    (one,) = measure_robustness(judged, damaged, whole, after, resamples=400, seed=3)
    assert (one.metric, one.test_set, one.damage) == ("small", "news", "number")
    assert (one.segments, one.signature) == (3, "after")
    assert one.noticed == pytest.approx(1 / 3)
    deviation = np.sqrt(0.05)  # 0.8, 0.6, 0.2, 0.4 around 0.5
    assert one.drop == pytest.approx((0.3 + 0.0 - 0.1) / 3 / deviation)
    # There are two sources, one with two rows: a resample has one, the other or both.
    assert (one.noticed_low, one.noticed_high) == (0.0, 0.5)
    assert one.drop_low == pytest.approx(-0.1 / deviation)
    assert one.drop_high == pytest.approx(0.15 / deviation)
    assert one.test_set_sha256 == damaged.sha256


def test_equal_scores_have_no_deviation(judged, damaged):
    whole, after = (MetricScores("small", "s", np.ones(number)) for number in (4, 3))
    (one,) = measure_robustness(judged, damaged, whole, after, resamples=40, seed=1)
    assert (one.noticed, one.drop, one.drop_low, one.drop_high) == (0, 0, 0, 0)
