"""The difference of two systems, against sacreBLEU's paired test and a written-out bootstrap."""

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from tests.evaluation.conftest import damaged
from weebill.errors import InputError
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.comparison import compare
from weebill.evaluation.quality.translation_quality import BOOTSTRAP_SEED, TestSet, p_values

PRUNED, WHOLE = (Variant("tiny", recipe, "float32") for recipe in ("pushy", "unpruned"))


def compared(references, ours, theirs, bootstrap=200):
    half = len(references) // 2
    parts = [slice(0, half), slice(half, None)]
    return compare(
        PRUNED,
        WHOLE,
        [TestSet(str(n), references[p], references[p]) for n, p in enumerate(parts)],
        [ours[part] for part in parts],
        [theirs[part] for part in parts],
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
    assert found.p_value == p_values(ours, theirs, references, 200, "de")["BLEU"]


def test_the_interval_is_of_the_same_sentences_for_both(references):
    ours, theirs = (
        damaged(references, 0.22),
        damaged(references, 0.2),
    )  # alike, sentence by sentence
    found = compared(references, ours, theirs)
    chosen = np.random.default_rng(BOOTSTRAP_SEED).choice(120, size=(200, 120), replace=True)
    differences = sorted(
        _bleu(ours, references, rows) - _bleu(theirs, references, rows) for rows in chosen
    )
    bounds = [found.difference_low, found.difference_high]
    assert bounds == pytest.approx([differences[5], differences[-6]], abs=1e-3)
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
