"""Estimates of metric experiments: by hand, and beside the published run of metric-small."""

import pytest

from tests.configuration.changes import with_key
from tests.configuration.test_estimates import of_paper, run_times
from tests.small_metric_experiment import SMALL
from weebill.configuration.checking import check, estimate

LAYERS = 3 * (4 * 8**2 + 2 * 8 * 16)  # weights in the layers of `small`
RATE = 5e10  # operations a second of a thread, in float32


def estimated(*changes):
    config = SMALL
    for path, value in changes:
        config = with_key(config, path, value)
    return estimate(check(config, "trial.yaml"))


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Write the judgements, of 9,000 bytes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "da.tsv").write_bytes(bytes(9000))


def test_every_pruned_metric_is_on_disk():
    """Without 1 or 2 layers, without half of the heads, `pruned`, and another recipe: each may be a whole one."""
    vocabulary = 250_000
    pieces = (("vocabulary",), vocabulary)
    four = estimated(pieces)
    assert four.disk["pruned models"] == 4 * 4 * (vocabulary * 8 + LAYERS)
    more = estimated(pieces, (("pruning", "recipes"), {"flat": [{"method": "depth"}]}))
    assert more.disk["pruned models"] == 5 / 4 * four.disk["pruned models"]
    none = with_key(SMALL, ["pruning"], None)
    assert "pruned models" not in estimate(check(none, "trial.yaml")).disk


def test_the_papers_pruned_metrics():
    """XLM-R-large has 560 million weights; 8, 4 and 6 metrics are for the figures, and 2 for the table."""
    found = of_paper("cometinho.yaml")
    assert found.disk["pruned models"] == pytest.approx(20 * 4 * 560e6, rel=0.01)


def test_scores_of_judged_sets_by_hand(table):
    """Half of 2,000 pieces are encoded.  The test set is scored by six metrics (BERTScore, the reference, an ensemble
    of two, `pruned` and `distilled`), the development set by the reference and four pruned ones."""
    found = estimated()
    assert 3600 * found.hours["scores of judged sets"] == pytest.approx(
        2 * 1000 * (6 + 5) * LAYERS / RATE
    )
    robust = estimated((("evaluation",), {"robustness": {"segments": 10**6}}))
    # Each of three kinds of damage has at most as many texts as the test set.
    assert 3600 * robust.hours["scores of judged sets"] == pytest.approx(
        2 * 1000 * (6 + 5 + 3 * 6) * LAYERS / RATE
    )


def test_pruning_and_timing_by_hand(table):
    """A segment has three texts of 130 bytes, a piece 4.5 bytes.  Three metrics are timed, the first in five ways."""
    side = 130 / 4.5
    found = estimated()
    assert 3600 * found.other_hours["pruning"] == pytest.approx(
        4 * 6 * 1000 * 3 * side * LAYERS / RATE
    )
    assert "measuring" not in found.other_hours
    speed = {"sources": "s", "references": "r", "systems": ["a", "b"], "segments": 100}
    choice = {"candidates": [2, 9], "candidate_sources": 5}

    def timed(rounds):
        key = ("evaluation",), {"speed": {**speed, **choice, "rounds": rounds}}
        return 3600 * estimated(key).other_hours["measuring"]

    one, two = (2 + 1) + (2 + 2), 3 + 6  # texts of one and two systems, with a cache and without
    systems = 2 * two + 2 * one + 3 * one
    segments = 2.5 * 3 * 5
    candidates = 3 * 5 * (3 + 10)
    texts = 100 * (systems + segments) + candidates
    assert timed(1) == pytest.approx(2 * 2 * texts * side * LAYERS / RATE)  # and a round to warm up
    assert timed(5) == pytest.approx(3 * timed(1))


def test_text_that_is_not_here_is_named(table):
    absent = ("reference", "judgements"), [{"table": "x", "score": "da"}] * 2
    speed = ("evaluation",), {"speed": {"sources": "s", "references": "r", "systems": ["a"]}}
    assert {*estimated(absent, speed).unknown} >= {
        "training of the reference: not here yet: x",
        "timing of metrics: not here yet: s",
        "encoding of the encoders' text: not here yet: a.txt",
    }
    assert not [line for line in estimated().unknown if "da.tsv" in line]


def test_parts_that_are_not_here_are_named_beside_those_that_are():
    unknown = of_paper("cometinho.yaml").unknown
    wmt = "training of the reference: not here yet: data/wmt-da/wmt18.tsv.zst, data/wmt-da/wmt19"
    assert any(line.startswith(wmt) for line in unknown)
    [scores] = [line for line in unknown if line.startswith("scores of judged sets")]
    assert scores.endswith(" and 9 more")


def test_a_checkpoint_alone_has_a_time():
    found = of_paper("comet.yaml")
    assert found.hours["scores of judged sets"] > 0.5
    assert 0 < found.chain < found.hours["scores of judged sets"]


def test_the_published_run_of_metric_small():
    minutes, published_jobs = run_times("metric-small")
    found = of_paper("metric-small.yaml")
    told = {
        "score_judged": found.hours["scores of judged sets"],
        "prune_metric": found.other_hours["pruning"],
        "measure_metric_speed": found.other_hours["measuring"],
    }
    for rule, hours in told.items():
        assert 0.5 < 60 * hours / minutes[rule] < 2, rule
    [jobs] = [int(name.split()[2]) for name in found.other_hours if name.startswith("starts")]
    assert jobs == pytest.approx(published_jobs, rel=0.1)
