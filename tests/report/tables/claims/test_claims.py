"""Verdicts on claims for obvious intervals; every claim has a measure."""

import pytest

from weebill.report import papers
from weebill.report.tables.claims import (
    ALONE,
    Claim,
    Effect,
    claims_of,
    claims_table,
    generation,
    metric,
    translation,
)

MEASURES = {
    "wngt20": translation.MEASURES,
    "wmt21": translation.MEASURES,
    "cometinho": metric.MEASURES,
    "textgen": generation.MEASURES,
}
LOSS = Claim(
    "§1", "loses at most a point", "x", "BLEU", least=-1.0, most=float("inf"), opposite=None
)
GAIN = Claim("§1", "is 1.2 times as fast", "x", "times", least=1.2, most=float("inf"), opposite=1.0)
SMALLER = Claim("§1", "degrades", "x", "BLEU", least=float("-inf"), most=0.0, opposite=0.0)


@pytest.mark.parametrize(
    ("claim", "bounds", "verdict"),
    [
        (LOSS, (-0.9, 0.4), "reproduced"),
        (LOSS, (-1.5, 0.4), "undecided"),
        (LOSS, (-3.0, -1.1), "not reproduced"),
        (GAIN, (1.2, 1.4), "reproduced"),
        (GAIN, (1.1, 1.3), "undecided"),
        (GAIN, (0.9, 1.1), "not reproduced"),
        (GAIN, (0.8, 0.99), "opposite"),
        (SMALLER, (-0.5, -0.1), "reproduced"),
        (SMALLER, (-0.5, 0.1), "undecided"),
        (SMALLER, (0.1, 0.5), "opposite"),
    ],
)
def test_an_interval_decides(claim, bounds, verdict):
    low, high = bounds
    assert claim.verdict(Effect("a", (low + high) / 2, low, high)) == verdict


def test_a_value_without_an_interval_is_marked():
    assert LOSS.verdict(Effect("a", -0.5)) == f"reproduced {ALONE}"
    assert GAIN.verdict(Effect("a", 0.9)) == f"opposite {ALONE}"


def test_a_difference_of_two_effects_has_the_margins_of_both():
    both = Effect("a", -1.0, -2.0, 0.0).less(Effect("b", 0.5, 0.0, 1.0))
    assert (both.of, both.value, both.low, both.high) == ("a, b", -1.5, -3.0, 0.0)
    assert Effect("a", 1.0, 0.0, 2.0).less(Effect("b", 1.0)).low is None


def test_every_claim_has_a_measure_and_every_measure_of_a_paper_a_number_printed():
    rows = papers.load("claims").to_dict("records")
    assert {row["paper"] for row in rows} == {*papers.PAPERS}
    for paper, measures in MEASURES.items():
        for claim in claims_of(paper):
            assert claim.effect in measures, claim
            assert claim.least <= claim.most, claim
            assert claim.least > float("-inf") or claim.most < float("inf"), claim


def test_a_row_shows_bounds_numbers_and_verdict_and_what_was_not_measured_says_so():
    measures = dict.fromkeys(translation.MEASURES, lambda results: [])
    measures["heads-bleu"] = lambda results: [Effect("tiny/pushy/float32", -0.1875, -0.38, 0.01)]
    table = claims_table("wngt20", measures, None)
    first, *others = table.rows
    assert [cell.text for cell in first.cells[2:]] == [
        "≥ −0.4 BLEU",
        "tiny/pushy/float32",
        "-0.188",
        "-0.380",
        "0.0100",
        "reproduced",
    ]
    assert {row.cells[-1].text for row in others} == {"not measured"}
