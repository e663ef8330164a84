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
EIGHT = Claim("§1", "is 8 times smaller", "x", "times", least=7.5, most=8.5, opposite=1.0)
SLOWER = Claim("§1", "is at most 2 % slower", "x", "times", least=0.98, most=1.0, opposite=1.0)
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
        (EIGHT, (9.0, 9.0), "not reproduced"),
        (EIGHT, (5.0, 5.0), "not reproduced"),
        (EIGHT, (0.5, 0.9), "opposite"),
        (SLOWER, (0.9, 0.95), "not reproduced"),
        (SLOWER, (1.01, 1.1), "opposite"),
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


def test_a_mean_over_texts_has_their_independent_margins():
    both = Effect.mean("a, b", [Effect("a", 1.0, 0.7, 1.4), Effect("b", 3.0, 2.6, 3.3)], "why")
    assert (both.value, both.note) == (2.0, "why")
    assert (both.low, both.high) == pytest.approx((1.75, 2.25))
    assert Effect.mean("a, b", [Effect("a", 1.0, 0.7, 1.4), Effect("b", 3.0)]).low is None


def printed(paper, number, row, column):
    """Return a number of a paper's table.  row: the values of its first columns."""
    rows = papers.load_table(paper, number).to_dict("records")
    return next(float(r[column]) for r in rows if list(r.values())[: len(row)] == list(row))


def papers_own_effects():
    """Yield (paper, name of an effect, value) of the papers' own tables: each must bear out its claim."""
    for student, name in (("base", "8bit-untuned"), ("tiny", "8bit"), ("micro.8k", "8bit")):
        speeds = [printed("wngt20", 3, (student, one), "wps_1core") for one in (name, "float32")]
        yield "wngt20", "int8-speed", speeds[0] / speeds[1]
    for student, name in (("tiny", "log4-bleu"), ("tiny.8k", "log4-small-vocabulary-bleu")):
        scores = (
            printed("wngt20", 3, (student, one), "bleu_wmt1x") for one in ("log-4bit", "float32")
        )
        yield "wngt20", name, round(next(scores) - next(scores), 2)
    for student in ("12-1.tiny", "12-1.micro"):
        whole = (student, "none", "float32")
        for kind in ("head-lasso", "rowcol-lasso"):
            for precision, name in (("float32", ""), ("8bit+finetuning", "-int8")):
                row = (student, kind, precision)
                seconds = [printed("wmt21", 2, one, "seconds") for one in (whole, row)]
                yield "wmt21", f"lasso{name}-speed", seconds[0] / seconds[1]
                scores = [printed("wmt21", 2, one, "bleu_wmt21") for one in (row, whole)]
                yield "wmt21", f"lasso{name}-bleu", round(scores[0] - scores[1], 1)
            share = 100 * printed("wmt21", 2, (student, kind, "float32"), "sparsity_att")
            yield "wmt21", f"{kind}-heads", share
    millions = {
        name: printed("cometinho", 1, (name,), "params_m")
        for name in ("COMET", "PRUNE-COMET", "DISTIL-COMET")
    }
    for name, effect in (("PRUNE-COMET", "pruned-size"), ("DISTIL-COMET", "distilled-size")):
        yield "cometinho", effect, 100 * (1 - millions[name] / millions["COMET"])
    for name, number, effect in (
        ("DISTIL-COMET", 1, "distilled-tau"),
        ("DISTIL-COMET", 2, "distilled-low-resource-tau"),
        ("PRUNE-COMET", 2, "pruned-tau"),
    ):
        taus = [printed("cometinho", number, (one,), "avg") for one in (name, "COMET")]
        yield "cometinho", effect, round(taus[0] - taus[1], 3)
    tables = papers.load("textgen_tables").to_dict("records")
    for model, numbers in (("bart", {"distilled": 6, "pruned": 3, "quantized": 5, "pipeline": 6}),
                           ("gpt2", {"distilled": 7, "pruned": 4, "pipeline": 7})):  # fmt: skip
        for step, number in numbers.items():
            rows = [row for row in tables if row["table"] == str(number)]
            name = "quantized" if step == "pipeline" else step
            one, base = next(row for row in rows if row["variant"] == name), rows[0]
            smaller, faster = (
                100 * (1 - float(one[key]) / float(base[key])) for key in ("size_gb", "seconds")
            )
            yield "textgen", f"{model}-{step}-size", smaller
            if step != "pruned":
                yield "textgen", f"{model}-{step}-time", faster
            if model == "gpt2":
                ratio = float(one["perplexity"]) / float(base["perplexity"])
                yield "textgen", f"{model}-{step}-perplexity", ratio


@pytest.mark.parametrize(("paper", "name", "value"), list(papers_own_effects()))
def test_the_papers_own_numbers_bear_out_their_claims(paper, name, value):
    (claim,) = [one for one in claims_of(paper) if one.effect == name]
    assert claim.verdict(Effect.exact("the paper's", value)) == "reproduced", (claim, value)


def test_every_claim_has_a_measure_and_every_measure_of_a_paper_a_number_printed():
    rows = papers.load("claims").to_dict("records")
    four = {"wngt20", "wmt21", "cometinho", "textgen"}
    assert four <= {row["paper"] for row in rows} <= {*papers.PAPERS}
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
    assert [cell.text for cell in first.cells[2:-1]] == [
        "≥ −0.55 BLEU",
        "tiny/pushy/float32",
        "-0.188",
        "-0.380",
        "0.0100",
        "reproduced",
    ]
    assert first.cells[-1].text.startswith("The average is over two students")
    assert {row.cells[-2].text for row in others} == {"not measured"}
