"""Agreement with people: by counting pairs, by all permutations, and by published figures."""

from itertools import combinations, product
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

import weebill.report
from tests.hugging_face.test_sizes import printed
from weebill.errors import InputError
from weebill.metric.correlation import (
    RelativeRanks,
    bootstrap_interval,
    kendall_tau_b,
    permutation_p_value,
)
from weebill.metric.judgements import is_machine, lexical_scores, read_judgements

MQM = Path(weebill.report.__file__).parents[3] / "shared/data/mqm"
DA = MQM.with_name("da") / "da_wmt17_to-en.tsv.gz"


def draws(seed, size=60):
    """Return scores with ties, and human scores that partly agree with them."""
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
        if segments[i] != segments[j] or abs(human[i] - human[j]) < 30:
            continue
        agrees = (scores[i] - scores[j]) * (human[i] - human[j]) > 0
        concordant, discordant = concordant + agrees, discordant + (not agrees)
    ranks = RelativeRanks.of(human, list(segments), least=30)
    assert len(ranks.better) == concordant + discordant > 50
    assert ranks.tau(scores) == pytest.approx((concordant - discordant) / (concordant + discordant))


def test_relative_ranks_at_their_bounds():
    ranks = RelativeRanks.of([50.0, 25.0, 26.0, 90.0], ["a", "a", "a", "b"])
    assert (ranks.better.tolist(), ranks.worse.tolist()) == ([0], [1])  # 25 points count, 24 do not
    assert ranks.tau(np.array([1.0, 1.0, 0.0, 0.0])) == -1  # a tie is no agreement
    assert np.isnan(RelativeRanks.of([1.0], ["a"]).tau(np.array([1.0])))


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
    """At most 5 % of equally good metrics (plus the noise of 200 draws) are told apart, and most of the others."""

    def p_value(seed):
        random = np.random.default_rng(seed)
        human = random.normal(size=40)
        ours, theirs = (human + random.normal(0, sigma, 40) for sigma in (1.0, noise))
        return permutation_p_value(
            lambda one: float(np.corrcoef(one, human)[0, 1]), ours, theirs, 99, seed
        )

    assert low <= np.mean([p_value(seed) <= 0.05 for seed in range(200)]) <= high


def test_no_p_value_where_there_is_no_agreement():
    scores, human = draws(1)

    def agreement(some):
        return kendall_tau_b(some, human)

    assert np.isnan(permutation_p_value(agreement, np.ones_like(scores), scores, 20))


def test_permutations_without_an_agreement_are_left_out():
    """There are two segments: exchanging one makes both metrics constant; exchanging both or none does not."""
    human, ours = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    # Half of the permutations are defined, and all of those are as large as the observed difference.
    found = permutation_p_value(lambda one: kendall_tau_b(one, human), ours, ours[::-1], 200)
    assert found == 1

    def never_again(_, calls=iter([1.0, 0.0])):
        return next(calls, float("nan"))

    assert np.isnan(permutation_p_value(never_again, ours, ours[::-1], 20))


def test_resamples_without_an_agreement_are_left_out():
    """Two of four resamples of two sources have equal human scores; the others agree wholly."""
    human, scores = np.array([0.0, 1.0]), np.array([3.0, 5.0])

    def tau(rows):
        return kendall_tau_b(scores[rows], human[rows])

    assert bootstrap_interval(tau, ["a", "b"], 50) == (1, 1)
    assert np.isnan(bootstrap_interval(lambda _: float("nan"), ["a", "b"], 50)).all()


def test_the_interval_resamples_sources():
    """Ten equal translations of a source carry no more information than one."""
    random = np.random.default_rng(1)
    values = random.normal(size=200)
    low, high = bootstrap_interval(
        lambda rows: values[rows // 10].mean(), [row // 10 for row in range(2000)], 500
    )
    assert (high - low) / 2 == pytest.approx(1.96 * values.std() / sqrt(200), rel=0.15)


@pytest.mark.parametrize(
    ("file", "domain"), [("mqm_newstest2021_en-de", "news"), ("mqm_ted_en-de", "ted")]
)
def test_lexical_metrics_as_published(file, domain):
    """COMETINHO table 1 does not name its systems: we take the eight that translated both texts."""
    path = MQM / f"{file}.tsv.gz"
    if not path.is_file():
        pytest.skip(f"{path}: MQM judgements are not here")
    judged = read_judgements(path, "mqm").where(is_machine)
    assert len(set(judged.systems)) == 8
    for metric in ("BLEU", "chrF"):
        scores = lexical_scores(metric, judged.hypotheses, judged.references)
        value = float(printed("cometinho_table1.csv", metric=metric)[f"en-de_{domain}"])
        assert kendall_tau_b(scores, judged.scores) == pytest.approx(value, abs=0.02)


def test_direct_assessments_are_read():
    if not DA.is_file():
        pytest.skip(f"{DA}: direct assessments are not here")
    judged = read_judgements(DA, "da_z")
    assert len(judged) == 3920
    assert len({segment.split()[0] for segment in judged.segments}) == 7


def test_tables_that_are_wrong(tmp_path):
    path = tmp_path / "judged.tsv"
    heading = "system\tseg_id\tsource\treference\thypothesis\tmqm\n"
    for text, match in (
        (heading.replace("mqm", "mpm"), "no column 'mqm'; did you mean 'mpm'"),
        (heading, "no judgements"),
        (heading + "A\t1\ts\tr\th\t0\nA\t2\ts\th\t-1\n", ":3: 5 columns, expected 6"),
        (heading + "A\t1\ts\tr\th\tgood\n", ":2: mqm is 'good', no number"),
        (heading + "A\t1\ts\tr\th\tnan\n", ":2: mqm is 'nan', no number"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=match):
            read_judgements(path, "mqm")
    with pytest.raises(InputError, match=r"metric 'chrf', expected BLEU or chrF; did you mean"):
        lexical_scores("chrf", ["a"], ["a"])
