"""Precision, recall and ROC-AUC, compared with counts of all pairs of rows; real labels if they are installed."""

import random

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import mannwhitneyu

from weebill.corpus.cleaning.filters import FILTERS
from weebill.corpus.cleaning.pairs import Context
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.labelled import (
    Labelled,
    import_damaged,
    import_labelled,
    load_labelled,
    measure,
    read_labelled,
    roc_auc,
)
from weebill.corpus.table import write_table
from weebill.errors import InputError
from weebill.report.tables.filters import filters_table

COLUMNS = {"source": 0, "target": 1, "label": 2}


def test_auc_counts_pairs_of_good_and_bad():
    draw = random.Random(1)
    for _ in range(50):
        values = np.array([float(draw.randint(0, 6)) for _ in range(30)])
        good = np.array([True, False, *(draw.random() < 0.4 for _ in range(28))])
        wins = [
            1.0 if one > other else 0.5 if one == other else 0.0
            for one in values[good]
            for other in values[~good]
        ]
        assert roc_auc(values, good) == pytest.approx(sum(wins) / len(wins))


def test_filters_and_scores_by_hand():
    """Two bad rows have equal sides, and the second repeats the first; one good row has different numbers."""
    labelled = Labelled(
        ["The same.", "The same.", "There are 325 birds.", "A bird sings.", "A tree stands."],
        ["The same.", "The same.", "Da sind viele Vögel.", "Ein Vogel singt.", "Ein Baum steht."],
        np.array([False, False, True, True, False]),
    )
    scores = {"language_model_target": np.array([len(text) for text in labelled.targets], float)}
    measured = measure(labelled, ("en", "de"), Context(Rules()), scores, seed=1, resamples=20)
    found = {q.name: q for q in measured}
    assert list(found) == [*FILTERS, "all filters", "language_model_target", "combined"]
    identical, numbers = found["identical"], found["numbers"]
    assert (identical.dropped, identical.precision, identical.recall) == (2, 1.0, 2 / 3)
    assert (identical.kept_precision, identical.kept_recall) == (2 / 3, 1.0)
    assert (numbers.dropped, numbers.precision, numbers.recall) == (1, 0.0, 0.0)
    assert found["duplicate"].dropped == 1 and found["urls"].precision is None
    chain = found["all filters"]
    assert (chain.dropped, chain.precision, chain.kept_precision) == (3, 2 / 3, 1 / 2)
    # This score prefers short text: good rows have 19 and 16, bad ones 9, 9, 15.  70 % of two good rows are both.
    score = found["language_model_target"]
    assert (score.auc, score.auc_low, score.auc_high) == (0.0, 0.0, 0.0)
    assert (score.dropped, score.kept_precision, score.kept_recall) == (0, 2 / 5, 1.0)


def test_the_interval_is_about_that_of_hanley_and_mcneil():
    """Hanley and McNeil (1982) have a closed form for the deviation of an AUC of exponential scores."""
    draw = np.random.default_rng(5)
    good = np.arange(300) < 100
    lengths = np.where(good, draw.exponential(3.0, 300), draw.exponential(1.0, 300))
    labelled = Labelled(["A."] * 300, ["B."] * 300, good)
    scores = {"lexical_translation": lengths}
    found = measure(labelled, ("en", "de"), Context(Rules()), scores, seed=2, resamples=300)
    row = next(row for row in found if row.name == "lexical_translation")
    area = row.auc
    first, second = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + 99 * (first - area**2) + 199 * (second - area**2)
    deviation = (variance / (100 * 200)) ** 0.5
    assert row.auc_low < area < row.auc_high
    assert (row.auc_high - row.auc_low) / (2 * 1.96 * deviation) == pytest.approx(1.0, abs=0.15)
    assert row.kept_recall == pytest.approx(0.7, abs=0.015)


def test_injected_damage_by_kind(tmp_path, as_table):
    """Filters find copies, the score finds truncated pairs, and neither finds others."""
    pairs = [(f"a bird {row} sings", f"ein Vogel {row} singt") for row in range(120)]
    noise = [None] * 120
    for row in range(0, 120, 6):
        pairs[row], noise[row] = (pairs[row][0], pairs[row][0]), "copied"
        pairs[row + 2], noise[row + 2] = (pairs[row + 2][0], "ein"), "truncated"
    table = as_table(pairs, noise)
    dropped = pa.array(["identical" if kind == "copied" else None for kind in noise])
    for name in ("a", "b"):
        write_table(tmp_path / name, table.set_column(4, "dropped_by", dropped))
    import_damaged([tmp_path / "a", tmp_path / "b"], tmp_path / "pairs", seed=1, rows=200)
    labelled = load_labelled(tmp_path / "pairs")
    assert len(labelled.good) == 200 and set(labelled.damage) == {None, "copied", "truncated"}
    assert labelled.good.tolist() == [kind is None for kind in labelled.damage]
    rows = set(zip(labelled.sources, labelled.targets, labelled.damage, strict=True))
    assert rows <= {(*pair, kind) for pair, kind in zip(pairs, noise, strict=True)}

    scores = {"lexical_translation": np.array([float(t != "ein") for t in labelled.targets])}
    measured = measure(labelled, ("en", "de"), Context(Rules()), scores, seed=1, resamples=5)
    found = {q.name: q.found for q in measured}
    assert found["identical"] == {"copied": 1.0, "truncated": 0.0}
    assert found["lexical_translation"] == {"copied": 0.0, "truncated": 1.0}
    table = filters_table(measured, 200, int(labelled.good.sum()))
    assert table.name == "filters_damage"
    assert [column.key for column in table.columns][-2:] == ["found_copied", "found_truncated"]


def test_damage_is_needed(tmp_path, as_table):
    write_table(tmp_path / "a", as_table([("x", "y")] * 3, [None] * 3))
    with pytest.raises(InputError, match="no damaged pair, or no other, to measure on"):
        import_damaged([tmp_path / "a"], tmp_path / "pairs", seed=1)


def test_imported_pairs_can_be_read_again(tmp_path):
    sources = ["Birds\u00a0: one &amp; two.", "x"]
    labelled = Labelled(sources, ["Ein Vogel.", "y"], np.array([True, False]))
    import_labelled(labelled, ("en", "de"), tmp_path / "pairs.parquet")
    found = load_labelled(tmp_path / "pairs.parquet")
    assert (found.sources, found.targets) == (["Birds: one & two.", "x"], ["Ein Vogel.", "y"])
    assert found.good.tolist() == [True, False]


def test_lines_may_end_in_crlf(tmp_path):
    (tmp_path / "t.tsv").write_bytes(b"a\tb\tlabel\r\nx\ty\t1\r\nx\tz\t0\r\n")
    assert read_labelled(tmp_path / "t.tsv", COLUMNS).good.tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\tlabel\nx\ty\t2\n", r"t\.tsv:2: label '2', expected 1 \(good\) or 0 \(bad\)"),
        ("a\tb\tlabel\nx\t1\n", r"t\.tsv:2: 2 columns, expected 3"),
        ("x\ty\t1\nx\tz\t0\nx\tw\t1\n", r"t\.tsv:1: label '1', expected headings"),
        ("a\tb\tlabel\nx\ty\t1\n", "1 pairs with one label"),
    ],
)
def test_bad_tables(tmp_path, text, message):
    (tmp_path / "t.tsv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_labelled(tmp_path / "t.tsv", COLUMNS)


def test_the_labelled_paracrawl(real_text):
    """The file has 471 good pairs of 1,714; the AUC of its aligner scores is as expected."""
    table = real_text("noise/paracrawl_labelled.tsv")
    labelled = read_labelled(table, {"source": 0, "target": 1, "label": 5})
    good = labelled.good
    assert (len(good), int(good.sum())) == (1714, 471)
    hunalign = np.array(read_labelled(table, {"source": 2, "target": 1, "label": 5}).sources, float)
    wins = mannwhitneyu(hunalign[good], hunalign[~good]).statistic
    assert roc_auc(hunalign, good) == pytest.approx(wins / (471 * 1243))
