"""Judged sets: what is read, the statistics by counting, and what an interval is an interval of."""

import numpy as np
import pytest

from goldcrest.errors import InputError
from goldcrest.evaluation.metric_quality import measure_agreement
from goldcrest.metric.held_out import is_held_out
from goldcrest.metric.judged_scores import scores_of
from goldcrest.metric.judged_set import JudgedSet, MetricScores
from tests.metric.small import make_checkpoint, make_encoder

HEAD = "lp\tsystem\tseg_id\tsource\treference\thypothesis\tda\n"


def table(path, rows):
    path.write_text(HEAD + "".join("\t".join(map(str, row)) + "\n" for row in rows))
    return path


def entry(path, **changes):
    return {"table": str(path), "score": "da", "statistic": "darr", "humans": False, **changes}


@pytest.fixture
def judged(tmp_path):
    """Three systems and a person on four sources."""
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


def test_held_out_sources_are_those_of_the_validation(judged):
    found = JudgedSet.read("x", entry(judged, held_out=0.5, statistic="mqm")).judgements.sources
    assert set(found) == {source for source in ("s0", "s1", "s2", "s3") if is_held_out(source, 0.5)}
    assert len(found) == 3 * len(set(found))
    with pytest.raises(InputError, match="no source is held out"):
        JudgedSet.read("x", entry(judged, held_out=1e-9))


def test_darr_by_counting(judged):
    """Of 12 pairs those that differ by 25: 90>50, 90>20, 50>20; none; 60>10, 80>10; 70>30, 70>35."""
    found = JudgedSet.read("x", entry(judged))
    assert len(found.pairs.better) == 7
    assert found.tau(found.judgements.scores) == 1
    assert found.tau(-found.judgements.scores) == -1
    assert found.tau(np.zeros(12)) == -1  # ties count against the metric
    low, high = found.interval(found.judgements.scores, 50, seed=1)
    assert (low, high) == (1, 1)


def test_segments_of_two_texts_may_have_one_number(tmp_path):
    """Translations of different sources are not compared: 90 and 20 differ by more than 25, but are of two."""
    rows = [
        ("en-de", name, 0, source, "r", "h", score)
        for name, source, score in [("A", "s", 90), ("B", "s", 60), ("A", "t", 20), ("B", "t", 30)]
    ]
    found = JudgedSet.read("x", entry(table(tmp_path / "da.tsv", rows)))
    assert found.pairs.better.tolist() == [0] and found.pairs.worse.tolist() == [1]


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


def test_scores_from_a_file(judged, tmp_path):
    """One for each row of the table, people's too."""
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
    """A table's lines without the column of references."""
    for line in lines:
        cells = line.split("\t")
        yield "\t".join(cells[:4] + cells[5:])


def test_lexical_scores_tell_their_signature(judged):
    found = scores_of("chrF", JudgedSet.read("x", entry(judged)), [], None)
    assert "nc:6" in found.signature and len(found.scores) == 12
