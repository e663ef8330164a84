"""Differences over several trainings, against a written-out bootstrap of sentences and seeds."""

import statistics

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from tests.evaluation.conftest import damaged
from weebill.errors import InputError
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.comparison import compare
from weebill.evaluation.quality.seeds import compare_over_seeds
from weebill.evaluation.quality.translation_quality import BOOTSTRAP_SEED, TestSet

PRUNED, WHOLE = (Variant("tiny", recipe, "float32") for recipe in ("pushy", "unpruned"))


def compared(references, ours, theirs, bootstrap=80):
    return compare_over_seeds(
        PRUNED,
        WHOLE,
        [TestSet("news", references, references)],
        range(len(ours)),
        ours,
        theirs,
        bootstrap=bootstrap,
        target="de",
    )


def test_sentences_and_seeds_are_drawn_anew(references):
    ours = [damaged(references, share, seed=n) for n, share in enumerate((0.2, 0.3, 0.25))]
    theirs = [damaged(references, share, seed=9 + n) for n, share in enumerate((0.2, 0.22, 0.24))]
    found = compared(references, ours, theirs)
    scores = [BLEU().corpus_score(lines, [references]).score for lines in (*ours, *theirs)]
    assert [*found.scores, *found.baseline_scores] == pytest.approx(scores)
    expected = statistics.mean(scores[:3]) - statistics.mean(scores[3:])
    assert found.difference == pytest.approx(expected)
    assert (found.seeds, found.sentences) == ([0, 1, 2], 120)

    sentences = np.random.default_rng(BOOTSTRAP_SEED).choice(120, size=(80, 120), replace=True)
    chosen = np.random.default_rng(12345).integers(0, 3, (3, 80))
    means = sorted(
        statistics.mean(
            _bleu(ours[n], references, rows) - _bleu(theirs[n], references, rows) for n in seeds
        )
        for rows, seeds in zip(sentences, chosen.T, strict=True)
    )
    bounds = [found.difference_low, found.difference_high]
    assert bounds == pytest.approx([means[2], means[-3]], abs=1e-3)


def _bleu(hypotheses, references, rows):
    lines = [hypotheses[row] for row in rows]
    return BLEU().corpus_score(lines, [[references[row] for row in rows]]).score


def test_of_one_seed_it_is_the_comparison_of_two_systems(references):
    ours, theirs = damaged(references, 0.3, seed=2), damaged(references, 0.2)
    found = compared(references, [ours], [theirs])
    test_set = TestSet("news", references, references)
    one = compare(PRUNED, WHOLE, [test_set], [ours], [theirs], bootstrap=80, target="de")
    for name in ("difference", "difference_low", "difference_high", "signature"):
        assert getattr(found, name) == getattr(one, name)


def test_a_missing_line_is_refused(references):
    whole, short = [references, references], [references, references[1:]]
    with pytest.raises(InputError, match=r"tiny/unpruned/float32.*119"):
        compared(references, whole, short)
