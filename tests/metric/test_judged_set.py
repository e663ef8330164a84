"""Judged sets: rows, statistics (by counting, and by all permutations), and resampling for intervals."""

import json
from dataclasses import asdict
from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest

from tests.metric.small import make_checkpoint, make_encoder
from weebill.errors import InputError
from weebill.evaluation.quality.metric_quality import measure_agreement
from weebill.metric.judged_scores import scores_of
from weebill.metric.judged_set import (
    JudgedSet,
    MetricScores,
    RelativeRanks,
    bootstrap_interval,
    kendall_tau_b,
    permutation_p_value,
)
from weebill.metric.judgements import is_held_out

HEAD = "lp\tsystem\tseg_id\tsource\treference\thypothesis\tda\n"


def table(path, rows):
    path.write_text(HEAD + "".join("\t".join(map(str, row)) + "\n" for row in rows))
    return path


def entry(path, **changes):
    return {"table": str(path), "score": "da", "statistic": "darr", "humans": False, **changes}


@pytest.fixture
def judged(tmp_path):
    """Write judgements of three systems and a person on four sources."""
    human = [[90, 50, 20], [30, 40, 50], [10, 60, 80], [70, 30, 35]]
    rows = [
        ("en-de", system, segment, f"s{segment}", f"r{segment}", f"h{system}{segment}", score)
        for segment, scores in enumerate(human)
        for system, score in zip(["A", "B", "C", "ref-B"], [*scores, 100], strict=True)
    ]
    return table(tmp_path / "da.tsv", rows)


def test_people_are_left_out(judged):
    assert set(JudgedSet.read("x", entry(judged)).judgements["system"]) == {"A", "B", "C"}
    assert "ref-B" in JudgedSet.read("x", entry(judged, humans=True)).judgements["system"].tolist()


def test_a_table_without_systems_tells_no_people(judged):
    text = judged.read_text()
    judged.write_text(text.replace("system", "sys", 1))
    with pytest.raises(InputError, match=r"no column 'system'.*humans: true; did you mean 'sys'"):
        JudgedSet.read("x", entry(judged))
    assert len(JudgedSet.read("x", entry(judged, humans=True)).judgements) == 16


def test_held_out_sources_are_those_of_the_validation(judged):
    found = JudgedSet.read("x", entry(judged, held_out=0.5, statistic="mqm")).judgements["src"]
    assert set(found) == {source for source in ("s0", "s1", "s2", "s3") if is_held_out(source, 0.5)}
    assert len(found) == 3 * len(set(found))
    with pytest.raises(InputError, match="no source is held out"):
        JudgedSet.read("x", entry(judged, held_out=1e-9))


def test_darr_by_counting(judged):
    """Of 12 pairs, these differ by 25, source by source: 90>50, 90>20, 50>20; none; 60>10, 80>10; 70>30, 70>35."""
    found = JudgedSet.read("x", entry(judged))
    assert len(found.pairs.better) == 7
    assert found.tau(found.human) == 1
    assert found.tau(-found.human) == -1
    assert found.tau(np.zeros(12)) == -1  # ties count against the metric
    low, high = found.interval(found.human, 50, seed=1)
    assert (low, high) == (1, 1)


def test_segments_of_two_texts_may_have_one_number(tmp_path):
    """90 and 20 differ by more than 25, but translate different sources, so they are not compared."""
    rows = [
        ("en-de", name, 0, source, "r", "h", score)
        for name, source, score in [("A", "s", 90), ("B", "s", 60), ("A", "t", 20), ("B", "t", 30)]
    ]
    found = JudgedSet.read("x", entry(table(tmp_path / "da.tsv", rows)))
    assert found.pairs.better.tolist() == [0] and found.pairs.worse.tolist() == [1]


@pytest.mark.parametrize("statistic", ["darr", "mqm"])
def test_of_several_judgements_the_mean_counts(tmp_path, statistic):
    """A, judged 20 and 80, has the mean 50, like B; C is 30 better than both."""
    rows = [
        ("en-de", name, 0, "s", "r", f"h{name}", score)
        for name, score in [("A", 20), ("B", 50), ("C", 70), ("A", 80), ("C", 90)]
    ]
    found = JudgedSet.read("x", entry(table(tmp_path / "da.tsv", rows), statistic=statistic))
    assert found.judgements["system"].tolist() == ["A", "B", "C"]
    assert found.human.tolist() == [50, 50, 80]
    pairs = zip(found.pairs.better.tolist(), found.pairs.worse.tolist(), strict=True)
    assert sorted(pairs) == [(2, 0), (2, 1)]
    assert found.tau(np.array([1.0, 1.0, 2.0])) == pytest.approx(1)
    path = tmp_path / "scores.txt"
    path.write_text("1\n2\n3\n1\n3\n")
    assert scores_of("BLEURT", found, [], str(path)).scores.tolist() == [1, 2, 3]


# From the pages of results before repeated judgements were averaged.
HASHES = {"mqm_newstest2021_en-de": "5f8f967e370186a3", "mqm_ted_en-de": "e8acf7355ed2f0c3"}


@pytest.mark.parametrize("file", HASHES)
def test_a_table_without_repetitions_is_equal_to_the_bit(file, real_text):
    """Even the signs of zeros are equal: a results page names its judgements by this hash."""
    path = real_text(f"mqm/{file}.tsv")
    found = JudgedSet.read("x", entry(path, score="mqm", statistic="mqm"))
    assert found.sha256[:16] == HASHES[file]


def test_nothing_to_compare(judged, tmp_path):
    equal = [("en-de", name, 0, "s", "r", name, 50) for name in "AB"]
    with pytest.raises(InputError, match=r"no two translations .* differs by 25 points"):
        JudgedSet.read("x", entry(table(tmp_path / "e.tsv", equal)))
    people = [("en-de", "ref-A", 0, "s", "r", "h", 50)]
    with pytest.raises(InputError, match="humans: true"):
        JudgedSet.read("x", entry(table(tmp_path / "p.tsv", people)))


def test_agreement_of_several_metrics(judged):
    found = JudgedSet.read("x", entry(judged, statistic="mqm"))
    human, draw = found.human, np.random.default_rng(1)
    good = MetricScores("good", "g", human + draw.normal(0, 5, 12))
    bad = MetricScores("bad", "b", draw.normal(0, 1, 12))
    rows = measure_agreement(
        found, [good, bad], {"bad": "good"}, resamples=200, permutations=200, seed=1
    )
    assert [row.metric for row in rows] == ["good", "bad"]
    assert all(row.low <= row.tau <= row.high for row in rows)
    assert rows[0].compared_with is None
    assert rows[1].difference == pytest.approx(rows[1].tau - rows[0].tau)
    assert rows[1].difference < 0 and rows[1].p_value < 0.05
    assert rows[1].difference_low <= rows[1].difference <= rows[1].difference_high
    assert rows[0].difference_low is rows[0].difference_high is None
    with pytest.raises(InputError, match="3 scores for 12 segments"):
        measure_agreement(
            found, [MetricScores("m", "s", np.zeros(3))], {}, resamples=40, permutations=20, seed=1
        )


def test_what_is_undefined_is_none(judged):
    """Equal scores have no τ-b, and JSON has no NaN."""
    found = JudgedSet.read("x", entry(judged, statistic="mqm"))
    good = MetricScores("good", "g", found.human)
    equal = MetricScores("equal", "e", np.ones(12))
    compared = {"good": "equal", "equal": "good"}
    rows = measure_agreement(found, [good, equal], compared, resamples=40, permutations=20, seed=1)
    read = json.loads(json.dumps([asdict(row) for row in rows], allow_nan=False))
    names = ("tau", "low", "high", "difference", "difference_low", "difference_high", "p_value")
    assert [read[0][name] for name in names] == [*[pytest.approx(1)] * 3, *[None] * 4]
    assert [read[1][name] for name in names] == [None] * 7


@pytest.mark.parametrize("statistic", ["mqm", "darr"])
def test_the_interval_of_a_difference_pairs_the_resamples(judged, statistic):
    """A rescaled metric agrees as well in every resample; a reversed one differs by twice the agreement."""
    found, draw = JudgedSet.read("x", entry(judged, statistic=statistic)), np.random.default_rng(3)
    scores = found.human + draw.normal(0, 20, len(found.human))
    assert found.interval(scores, 50, 1, other=np.exp(scores / 50)) == (0, 0)
    low, high = found.interval(scores, 50, 1)
    assert low < high
    assert found.interval(scores, 50, 1, other=-scores) == pytest.approx((2 * low, 2 * high))


def test_an_interval_of_few_sources(tmp_path):
    """A resample of a single source has equal human scores, so the interval comes from the other resamples."""
    rows = [
        ("en-de", name, segment, f"s{segment}", "r", f"h{name}", 10 * segment)
        for segment in range(2)
        for name in "AB"
    ]
    found = JudgedSet.read("x", entry(table(tmp_path / "da.tsv", rows), statistic="mqm"))
    assert found.interval(found.human, 40, seed=1) == (1, 1)


def test_scores_from_a_file(judged, tmp_path):
    """The file has a score for each row of the table, including the person's rows."""
    path = tmp_path / "scores.txt"
    path.write_text("".join(f"{number}.5\n" for number in range(16)))
    found = scores_of("BLEURT", JudgedSet.read("x", entry(judged)), [], str(path))
    assert found.scores.tolist() == [n + 0.5 for n in range(16) if n % 4 != 3]
    path.write_text("".join(f"{number or 'nan'}\n" for number in range(16)))
    with pytest.raises(InputError, match=r"scores.txt:1: 'nan' is no number"):
        scores_of("BLEURT", JudgedSet.read("x", entry(judged)), [], str(path))
    path.write_text("1\n2\n")
    with pytest.raises(InputError, match="2 lines, expected one score for each of the table's 16"):
        scores_of("BLEURT", JudgedSet.read("x", entry(judged)), [], str(path))


def test_scores_that_need_references(judged, tmp_path):
    path = tmp_path / "without.tsv"
    path.write_text("".join(f"{line}\n" for line in without(judged.read_text().splitlines())))
    found = JudgedSet.read("x", entry(path))
    with pytest.raises(InputError, match="BLEU: compares with references, and the table has none"):
        scores_of("BLEU", found, [], None)
    encoder = make_encoder(tmp_path / "encoder")
    for kind in ("regression_metric", "referenceless_regression_metric"):
        make_checkpoint(tmp_path / kind, encoder, class_identifier=kind)
    with pytest.raises(InputError, match="reference: compares with references"):
        scores_of("reference", found, [str(tmp_path / "regression_metric")], None)
    models = [str(tmp_path / "referenceless_regression_metric")]
    assert np.ptp(scores_of("reference", found, models, None).scores) > 0


def without(lines):
    """Return a table's lines without the reference column."""
    for line in lines:
        cells = line.split("\t")
        yield "\t".join(cells[:4] + cells[5:])


def test_lexical_scores_tell_their_signature(judged):
    found = scores_of("chrF", JudgedSet.read("x", entry(judged)), [], None)
    assert "nc:6" in found.signature and len(found.scores) == 12


def draws(seed, size=60):
    """Return scores with ties, and human scores that agree with them in part."""
    random = np.random.default_rng(seed)
    human = random.integers(0, 8, size).astype(float)
    return np.round(human + random.normal(0, 4, size)), human


@pytest.mark.parametrize("seed", range(3))
def test_tau_b_by_counting(seed):
    scores, human = draws(seed)
    concordant = discordant = tied = tied_human = 0
    for i, j in combinations(range(len(scores)), 2):
        sign = (scores[i] - scores[j]) * (human[i] - human[j])
        concordant, discordant = concordant + (sign > 0), discordant + (sign < 0)
        tied, tied_human = tied + (scores[i] == scores[j]), tied_human + (human[i] == human[j])
    pairs = len(scores) * (len(scores) - 1) / 2
    tau = (concordant - discordant) / sqrt((pairs - tied) * (pairs - tied_human))
    assert kendall_tau_b(scores, human) == pytest.approx(tau)


@pytest.mark.parametrize("seed", range(3))
def test_relative_ranks_by_counting(seed):
    random = np.random.default_rng(seed)
    human = random.integers(0, 11, 80) * 10.0
    scores, segments = np.round(human / 20 + random.normal(0, 1, 80)), random.integers(0, 12, 80)
    concordant = discordant = 0
    for i, j in combinations(range(80), 2):
        if segments[i] != segments[j] or abs(human[i] - human[j]) < 25:
            continue
        agrees = (scores[i] - scores[j]) * (human[i] - human[j]) > 0
        concordant, discordant = concordant + agrees, discordant + (not agrees)
    ranks = RelativeRanks(human, list(segments))
    assert len(ranks.better) == concordant + discordant > 50
    assert ranks.tau(scores) == pytest.approx((concordant - discordant) / (concordant + discordant))


def test_relative_ranks_at_their_bounds():
    ranks = RelativeRanks([50.0, 25.0, 26.0, 90.0], ["a", "a", "a", "b"])
    assert (ranks.better.tolist(), ranks.worse.tolist()) == ([0], [1])  # 25 points count, 24 do not
    assert ranks.tau(np.array([1.0, 1.0, 0.0, 0.0])) == -1  # ties do not agree
    assert np.isnan(RelativeRanks([1.0], ["a"]).tau(np.array([1.0])))
    for parts in (
        3,
        10,
    ):  # means of several assessors: 83.1 - 58.1 is less than 25 in floating point
        pairs = [[k / parts, (k - 25 * parts) / parts] for k in range(25 * parts, 100 * parts)]
        assert all(len(RelativeRanks(pair, ["a", "a"]).better) for pair in pairs)


def test_permutations_by_trying_all():
    random = np.random.default_rng(8)
    human = random.normal(size=10)
    ours, theirs = (human + random.normal(0, noise, 10) for noise in (0.5, 1.5))
    ours, theirs = ((one - one.mean()) / one.std() for one in (ours, theirs))

    def agreement(scores):
        return float(np.corrcoef(scores, human)[0, 1])

    differences = [
        agreement(np.where(swap, theirs, ours)) - agreement(np.where(swap, ours, theirs))
        for swap in product([False, True], repeat=10)
    ]
    wanted = np.mean(np.abs(differences) >= abs(differences[0]) - 1e-9)
    assert 0.02 < wanted < 0.5
    found = permutation_p_value(agreement, 2 * ours, 5 * theirs + 3, 4000)
    assert found == pytest.approx(wanted, abs=4 * sqrt(wanted * (1 - wanted) / 4000))


@pytest.mark.parametrize(("noise", "low", "high"), [(1.0, 0.0, 0.09), (4.0, 0.6, 1.0)])
def test_p_values_find_what_differs_alone(noise, low, high):
    """At most 5 % of equally good metrics (plus noise of 200 draws) differ significantly; most unequal ones do."""

    def p_value(seed):
        random = np.random.default_rng(seed)
        human = random.normal(size=40)
        ours, theirs = (human + random.normal(0, sigma, 40) for sigma in (1.0, noise))
        centred = human - human.mean()
        # The correlation up to a constant factor; np.corrcoef takes five times as long.
        return permutation_p_value(lambda one: one @ centred / one.std(), ours, theirs, 99, seed)

    assert low <= np.mean([p_value(seed) <= 0.05 for seed in range(200)]) <= high


def test_no_p_value_where_there_is_no_agreement():
    scores, human = draws(1)

    def agreement(some):
        return kendall_tau_b(some, human)

    assert np.isnan(permutation_p_value(agreement, np.ones_like(scores), scores, 20))


def test_permutations_without_an_agreement_are_left_out():
    """Exchanging one of two segments makes both metrics constant; exchanging both or none does not."""
    human, ours = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    # Half of the permutations are defined; all of these are as large as the observed difference.
    found = permutation_p_value(lambda one: kendall_tau_b(one, human), ours, ours[::-1], 200)
    assert found == 1

    def never_again(_, calls=iter([1.0, 0.0])):
        return next(calls, float("nan"))

    assert np.isnan(permutation_p_value(never_again, ours, ours[::-1], 20))


def test_resamples_without_an_agreement_are_left_out():
    """Two of four resamples of two sources have equal human scores; the others agree fully."""
    human, scores = np.array([0.0, 1.0]), np.array([3.0, 5.0])

    def tau(rows):
        return kendall_tau_b(scores[rows], human[rows])

    assert bootstrap_interval(tau, ["a", "b"], 50) == (1, 1)
    assert np.isnan(bootstrap_interval(lambda _: float("nan"), ["a", "b"], 50)).all()


def test_the_interval_resamples_sources():
    """Ten equal translations of a source have no more information than one."""
    random = np.random.default_rng(1)
    values = random.normal(size=200)
    low, high = bootstrap_interval(
        lambda rows: values[rows // 10].mean(), [row // 10 for row in range(2000)], 500
    )
    assert (high - low) / 2 == pytest.approx(1.96 * values.std() / sqrt(200), rel=0.15)
