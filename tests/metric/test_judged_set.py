"""Judged sets: the rows read, the statistics by counting, and the units that intervals resample."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from tests.metric.small import make_checkpoint, make_encoder
from weebill.errors import InputError
from weebill.evaluation.quality.metric_quality import measure_agreement
from weebill.metric.held_out import is_held_out
from weebill.metric.judged_scores import scores_of
from weebill.metric.judged_set import JudgedSet, MetricScores

ROOT = Path(__file__).parents[2]
HEAD = "lp\tsystem\tseg_id\tsource\treference\thypothesis\tda\n"


def table(path, rows):
    path.write_text(HEAD + "".join("\t".join(map(str, row)) + "\n" for row in rows))
    return path


def entry(path, **changes):
    return {"table": str(path), "score": "da", "statistic": "darr", "humans": False, **changes}


@pytest.fixture
def judged(tmp_path):
    """Make three systems and a person on four sources."""
    human = [[90, 50, 20], [30, 40, 50], [10, 60, 80], [70, 30, 35]]
    rows = [
        ("en-de", system, segment, f"s{segment}", f"r{segment}", f"h{system}{segment}", score)
        for segment, scores in enumerate(human)
        for system, score in zip(["A", "B", "C", "ref-B"], [*scores, 100], strict=True)
    ]
    return table(tmp_path / "da.tsv", rows)


def test_people_are_left_out(judged):
    assert set(JudgedSet.read("x", entry(judged)).judgements.systems) == {"A", "B", "C"}
    assert "ref-B" in JudgedSet.read("x", entry(judged, humans=True)).judgements.systems


def test_a_table_without_systems_tells_no_people(judged):
    text = judged.read_text()
    judged.write_text(text.replace("system", "sys", 1))
    with pytest.raises(InputError, match=r"no column 'system'.*humans: true; did you mean 'sys'"):
        JudgedSet.read("x", entry(judged))
    assert len(JudgedSet.read("x", entry(judged, humans=True)).judgements) == 16


def test_held_out_sources_are_those_of_the_validation(judged):
    found = JudgedSet.read("x", entry(judged, held_out=0.5, statistic="mqm")).judgements.sources
    assert set(found) == {source for source in ("s0", "s1", "s2", "s3") if is_held_out(source, 0.5)}
    assert len(found) == 3 * len(set(found))
    with pytest.raises(InputError, match="no source is held out"):
        JudgedSet.read("x", entry(judged, held_out=1e-9))


def test_darr_by_counting(judged):
    """Pairs of 12 that differ by 25: 90>50, 90>20, 50>20; none; 60>10, 80>10; 70>30, 70>35."""
    found = JudgedSet.read("x", entry(judged))
    assert len(found.pairs.better) == 7
    assert found.tau(found.judgements.scores) == 1
    assert found.tau(-found.judgements.scores) == -1
    assert found.tau(np.zeros(12)) == -1  # ties count against the metric
    low, high = found.interval(found.judgements.scores, 50, seed=1)
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
    """A, judged 20 and 80, has mean 50, as B has; C is 30 better than both."""
    rows = [
        ("en-de", name, 0, "s", "r", f"h{name}", score)
        for name, score in [("A", 20), ("B", 50), ("C", 70), ("A", 80), ("C", 90)]
    ]
    found = JudgedSet.read("x", entry(table(tmp_path / "da.tsv", rows), statistic=statistic))
    assert found.judgements.systems == ["A", "B", "C"]
    assert found.judgements.scores.tolist() == [50, 50, 80]
    pairs = zip(found.pairs.better.tolist(), found.pairs.worse.tolist(), strict=True)
    assert sorted(pairs) == [(2, 0), (2, 1)]
    assert found.tau(np.array([1.0, 1.0, 2.0])) == pytest.approx(1)
    path = tmp_path / "scores.txt"
    path.write_text("1\n2\n3\n1\n3\n")
    assert scores_of("BLEURT", found, [], str(path)).scores.tolist() == [1, 2, 3]


@pytest.mark.parametrize("file", ["mqm_newstest2021_en-de", "mqm_ted_en-de"])
def test_a_table_without_repetitions_is_as_published(file):
    """It is equal to the bit, signed zeros included: the results page names judgements by their hash."""
    path = ROOT.parent / f"shared/data/mqm/{file}.tsv.gz"
    if not path.is_file():
        pytest.skip(f"{path}: MQM judgements are not here")
    found = JudgedSet.read("x", entry(path, score="mqm", statistic="mqm"))
    page = (ROOT / "docs/results/metric-small.md").read_text(encoding="utf-8")
    assert f"SHA-256 of the judgements {found.sha256[:16]}." in page


def test_nothing_to_compare(judged, tmp_path):
    equal = [("en-de", name, 0, "s", "r", name, 50) for name in "AB"]
    with pytest.raises(InputError, match=r"no two translations .* differs by 25 points"):
        JudgedSet.read("x", entry(table(tmp_path / "e.tsv", equal)))
    people = [("en-de", "ref-A", 0, "s", "r", "h", 50)]
    with pytest.raises(InputError, match="humans: true"):
        JudgedSet.read("x", entry(table(tmp_path / "p.tsv", people)))


def test_agreement_of_several_metrics(judged):
    found = JudgedSet.read("x", entry(judged, statistic="mqm"))
    human, draw = found.judgements.scores, np.random.default_rng(1)
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
    with pytest.raises(InputError, match="3 scores for 12 segments"):
        measure_agreement(
            found, [MetricScores("m", "s", np.zeros(3))], {}, resamples=40, permutations=20, seed=1
        )


def test_what_is_undefined_is_none(judged):
    """Equal scores have no τ-b; JSON has no NaN."""
    found = JudgedSet.read("x", entry(judged, statistic="mqm"))
    good = MetricScores("good", "g", found.judgements.scores)
    equal = MetricScores("equal", "e", np.ones(12))
    compared = {"good": "equal", "equal": "good"}
    rows = measure_agreement(found, [good, equal], compared, resamples=40, permutations=20, seed=1)
    read = json.loads(json.dumps([asdict(row) for row in rows], allow_nan=False))
    names = ("tau", "low", "high", "difference", "p_value")
    assert [read[0][name] for name in names] == [*[pytest.approx(1)] * 3, None, None]
    assert [read[1][name] for name in names] == [None] * 5


def test_an_interval_of_few_sources(tmp_path):
    """A resample of a single source has equal human scores; the interval comes from the others."""
    rows = [
        ("en-de", name, segment, f"s{segment}", "r", f"h{name}", 10 * segment)
        for segment in range(2)
        for name in "AB"
    ]
    found = JudgedSet.read("x", entry(table(tmp_path / "da.tsv", rows), statistic="mqm"))
    assert found.interval(found.judgements.scores, 40, seed=1) == (1, 1)


def test_scores_from_a_file(judged, tmp_path):
    """The file has one score for each row of the table, people's rows too."""
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
    """Return a table's lines without the column of references."""
    for line in lines:
        cells = line.split("\t")
        yield "\t".join(cells[:4] + cells[5:])


def test_lexical_scores_tell_their_signature(judged):
    found = scores_of("chrF", JudgedSet.read("x", entry(judged)), [], None)
    assert "nc:6" in found.signature and len(found.scores) == 12
