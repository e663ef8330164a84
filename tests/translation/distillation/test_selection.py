"""Selection of hypotheses, compared with BLEU computed by hand."""

import math
import random

import pytest

from weebill.translation.distillation.selection import best_hypothesis, sentence_bleu


def test_sentence_bleu_by_hand():
    """Matches of "the cat sat" with "the cat sat down": 3/3, 2/2, 1/1, 0/0 n-grams, each plus one; 3 of 4 tokens."""
    expected = math.exp(1 - 4 / 3) * (4 / 4 * 3 / 3 * 2 / 2 * 1 / 1) ** 0.25
    assert sentence_bleu("the cat sat", "the cat sat down") == pytest.approx(expected)
    # "the the dog ran ." and "the dog ran": 3/5 words (clipped), 2/4, 1/3, 0/2, and no brevity penalty.
    expected = (4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    assert sentence_bleu("the the dog ran.", "the dog ran") == pytest.approx(expected)
    assert sentence_bleu("", "the cat") == 0.0
    assert sentence_bleu("a b c d e", "a b c d e") == pytest.approx(1.0)


def slow_bleu(hypothesis: list[str], reference: list[str]) -> float:
    """Return BLEU by its definition: each n-gram may match as often as it occurs in the reference."""
    product = 1.0
    for order in range(1, 5):
        left = [tuple(reference[i : i + order]) for i in range(len(reference) - order + 1)]
        matches = total = 0
        for i in range(len(hypothesis) - order + 1):
            total += 1
            if tuple(hypothesis[i : i + order]) in left:
                left.remove(tuple(hypothesis[i : i + order]))
                matches += 1
        product *= (matches + 1) / (total + 1)
    if not hypothesis:
        return 0.0
    return min(1.0, math.exp(1 - len(reference) / len(hypothesis))) * product**0.25


def test_selection_is_the_first_maximum_of_the_definition():
    draw = random.Random(3)
    for _ in range(200):
        reference = [draw.choice("abcd") for _ in range(draw.randint(1, 9))]
        hypotheses = [[draw.choice("abcd") for _ in range(draw.randint(0, 9))] for _ in range(8)]
        hypotheses += hypotheses[:2]  # ties
        scores = [slow_bleu(hypothesis, reference) for hypothesis in hypotheses]
        texts = [" ".join(hypothesis) for hypothesis in hypotheses]
        for text, score in zip(texts, scores, strict=True):
            assert sentence_bleu(text, " ".join(reference)) == pytest.approx(score)
        chosen = best_hypothesis(texts, " ".join(reference))
        assert scores[chosen] == pytest.approx(max(scores))
        assert all(score < scores[chosen] - 1e-12 for score in scores[:chosen])


def test_hypotheses_are_compared_by_the_tokens_of_their_language():
    reference = "今天天气非常好我们去公园"
    hypotheses = ["完全不同的一句话", "今天天气很好我们去公园"]
    assert best_hypothesis(hypotheses, reference, "zh") == 1
    assert sentence_bleu(hypotheses[1], reference, "zh") > 0.5
