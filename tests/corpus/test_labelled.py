"""Precision, recall and ROC-AUC against counting all pairs of rows; real labels where they are."""

import random

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from goldcrest.corpus.cleaning.filters import FILTERS
from goldcrest.corpus.cleaning.pairs import Context
from goldcrest.corpus.cleaning.rules import Rules
from goldcrest.corpus.labelled import Labelled, measure, read_labelled, roc_auc
from goldcrest.errors import InputError

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
    """Two bad rows are equal sides, one of them a repetition; one good row holds other numbers."""
    labelled = Labelled(
        ["The same.", "The same.", "There are 3 birds.", "A bird sings.", "A tree stands."],
        ["The same.", "The same.", "Da sind drei Vögel.", "Ein Vogel singt.", "Ein Baum steht."],
        np.array([False, False, True, True, False]),
    )
    scorers = {"language_model_target": lambda texts: np.array([len(text) for text in texts])}
    found = {q.name: q for q in measure(labelled, ("en", "de"), Context(Rules()), scorers)}
    assert list(found) == [*FILTERS, "all filters", "language_model_target"]
    identical, numbers = found["identical"], found["numbers"]
    assert (identical.dropped, identical.precision, identical.recall) == (2, 1.0, 2 / 3)
    assert (identical.kept_precision, identical.kept_recall) == (2 / 3, 1.0)
    assert (numbers.dropped, numbers.precision, numbers.recall) == (1, 0.0, 0.0)
    assert found["duplicate"].dropped == 1 and found["urls"].precision is None
    chain = found["all filters"]
    assert (chain.dropped, chain.precision, chain.kept_precision) == (3, 2 / 3, 1 / 2)
    # shorter is better here: good 19 and 16 against bad 9, 9, 15
    assert found["language_model_target"].auc == 0.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\tlabel\nx\ty\t2\n", r"t\.tsv:2: label '2', expected 1 \(good\) or 0 \(bad\)"),
        ("a\tb\tlabel\nx\t1\n", r"t\.tsv:2: 2 columns, expected 3"),
        ("a\tb\tlabel\nx\ty\t1\n", "1 pairs with one label"),
    ],
)
def test_bad_tables(tmp_path, text, message):
    (tmp_path / "t.tsv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_labelled(tmp_path / "t.tsv", COLUMNS)


def test_the_labelled_paracrawl(shared_data):
    """857 pairs, 220 good; the aligner's score in the file is judged as the library judges it."""
    table = shared_data / "noise/paracrawl_labelled_dev.tsv.gz"
    labelled = read_labelled(table, {"source": 0, "target": 1, "label": 5})
    good = labelled.good
    assert (len(good), int(good.sum())) == (857, 220)
    hunalign = np.array(read_labelled(table, {"source": 2, "target": 1, "label": 5}).sources, float)
    wins = mannwhitneyu(hunalign[good], hunalign[~good]).statistic
    assert roc_auc(hunalign, good) == pytest.approx(wins / (220 * 637))
