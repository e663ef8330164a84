"""The difference of two systems, also over seeds, compared with sacreBLEU's paired test and a plain bootstrap."""

import statistics

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from tests.evaluation.conftest import damaged
from weebill.errors import InputError
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.comparison import compare, compare_over_seeds
from weebill.evaluation.quality.significance import BOOTSTRAP_SEED
from weebill.evaluation.quality.translation_quality import TestSet, measure

PRUNED, WHOLE = (Variant("tiny", recipe, "float32") for recipe in ("pushy", "unpruned"))


def compared(references, ours, theirs, bootstrap=200):
    half = len(references) // 2
    parts = [slice(0, half), slice(half, None)]
    return compare(
        PRUNED,
        WHOLE,
        [TestSet(str(n), references[p], references[p]) for n, p in enumerate(parts)],
        ours,
        theirs,
        bootstrap=bootstrap,
        target="de",
    )


def test_several_test_sets_are_one_text(references):
    ours, theirs = damaged(references, 0.3, seed=2), damaged(references, 0.2)
    found = compared(references, ours, theirs)
    scores = [BLEU().corpus_score(lines, [references]).score for lines in (ours, theirs)]
    assert [found.score, found.baseline_score] == pytest.approx(scores)
    assert found.difference == pytest.approx(scores[0] - scores[1])
    assert (found.test_sets, found.sentences) == (["0", "1"], 120)
    test_set, digests = TestSet("all", references, references), {str(PRUNED): "a", str(WHOLE): "b"}
    depends = {"bootstrap": 200, "target": "de", "seed": 1}
    bleu, *_ = measure({PRUNED: ours, WHOLE: theirs}, test_set, digests, **depends)
    assert (found.p_value, found.low, found.high) == (bleu.p_value, bleu.low, bleu.high)


def test_the_interval_is_of_the_same_sentences_for_both(references):
    # Sentences are damaged alike.
    ours, theirs = damaged(references, 0.22), damaged(references, 0.2)
    found = compared(references, ours, theirs, bootstrap=40)
    chosen = np.random.default_rng(BOOTSTRAP_SEED).choice(120, size=(40, 120), replace=True)
    differences = sorted(
        _bleu(ours, references, rows) - _bleu(theirs, references, rows) for rows in chosen
    )
    bounds = [found.difference_low, found.difference_high]
    assert bounds == pytest.approx([differences[1], differences[-2]], abs=1e-3)
    assert bounds[1] - bounds[0] < found.high - found.low


def _bleu(hypotheses, references, rows):
    lines = [hypotheses[row] for row in rows]
    return BLEU().corpus_score(lines, [[references[row] for row in rows]]).score


def test_the_same_translations_do_not_differ(references):
    found = compared(references, references, references)
    assert (found.difference, found.p_value) == (0, 1)
    assert found.difference_low == found.difference_high == 0


def test_a_missing_line_is_an_error(references):
    with pytest.raises(InputError, match="tiny/pushy/float32: 119 translations for 120"):
        compared(references, references[:-1], references)


def over_seeds(references, ours, theirs, bootstrap=40):
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
    found = over_seeds(references, ours, theirs)
    scores = [BLEU().corpus_score(lines, [references]).score for lines in (*ours, *theirs)]
    assert [*found.scores, *found.baseline_scores] == pytest.approx(scores)
    expected = statistics.mean(scores[:3]) - statistics.mean(scores[3:])
    assert found.difference == pytest.approx(expected)
    assert (found.seeds, found.sentences) == ([0, 1, 2], 120)

    sentences = np.random.default_rng(BOOTSTRAP_SEED).choice(120, size=(40, 120), replace=True)
    chosen = np.random.default_rng(12345).integers(0, 3, (3, 40))
    means = []
    for rows, seeds in zip(sentences, chosen.T, strict=True):
        lead = {
            n: _bleu(ours[n], references, rows) - _bleu(theirs[n], references, rows)
            for n in {*seeds}
        }
        means.append(statistics.mean(lead[n] for n in seeds))
    means.sort()
    bounds = [found.difference_low, found.difference_high]
    assert bounds == pytest.approx([means[1], means[-2]], abs=1e-3)


def test_of_one_seed_it_is_the_comparison_of_two_systems(references):
    ours, theirs = damaged(references, 0.3, seed=2), damaged(references, 0.2)
    found = over_seeds(references, [ours], [theirs])
    one = compared(references, ours, theirs, bootstrap=40)
    for name in ("difference", "difference_low", "difference_high", "signature"):
        assert getattr(found, name) == getattr(one, name)


def test_a_missing_line_of_one_seed_is_an_error(references):
    whole, short = [references, references], [references, references[1:]]
    with pytest.raises(InputError, match=r"tiny/unpruned/float32.*119"):
        over_seeds(references, whole, short)
