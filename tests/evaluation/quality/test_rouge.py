"""ROUGE: sentence borders, scores of the package, longest common subsequences by hand, and intervals."""

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from weebill.errors import InputError
from weebill.evaluation.quality.rouge import (
    METRICS,
    rouge_intervals,
    rouge_scores,
    rouge_signature,
    sentences,
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It rose. It fell.", ["It rose.", "It fell."]),
        ("It rose 2%.The firm fell.", ["It rose 2%.", "The firm fell."]),
        ('He said: "Yes." She left.', ['He said: "Yes."', "She left."]),
        ('He said: "Yes."She left.It rose.', ['He said: "Yes."', "She left.", "It rose."]),
        ("It rose 2.5 points to 3.1.", ["It rose 2.5 points to 3.1."]),
        ("The U.S. firm paid $5 a.m. daily", ["The U.S. firm paid $5 a.m. daily"]),
        ("One\n\ntwo ", ["One", "two"]),
        ("Why? £5!", ["Why?", "£5!"]),
        ("Es stieg. Über Nacht u. ä. fiel es.", ["Es stieg.", "Über Nacht u. ä. fiel es."]),
        ("Її немає. Ґава є… Добре!", ["Її немає.", "Ґава є…", "Добре!"]),
        ("그는 갔다. 왜? 모른다!", ["그는 갔다.", "왜?", "모른다!"]),
        ("انتهى الأمر. أين أنت؟ هنا", ["انتهى الأمر.", "أين أنت؟", "هنا"]),
        ("அவர் வந்தார். நீங்கள் எங்கே?", ["அவர் வந்தார்.", "நீங்கள் எங்கே?"]),
        ("", []),
    ],
)
def test_sentences(text, parts):
    assert sentences(text).splitlines() == parts


def test_scores_are_those_of_hand_counts():
    found, wanted = "the cat sat. A dog ran.", "A dog ran fast. The cat sat."
    unigrams = 2 * 6 / (6 + 7)
    bigrams = 2 * 4 / (5 + 6)  # the cat, cat sat, a dog, dog ran
    longest = 2 * 3 / (6 + 7)  # in the order of the whole text: a dog ran, or the cat sat
    sums = 2 * 6 / (6 + 7)  # sentence by sentence, in any order
    scores = rouge_scores([found], [wanted])[0]
    assert scores == pytest.approx([unigrams, bigrams, longest, sums])
    assert rouge_scores(["cats running"], ["cat runs"])[0, 0] == 1  # stems


def test_scores_are_the_packages():
    rng = np.random.default_rng(1)
    words = ["bank", "banks", "rose", "profits", "firm", "said", "year"]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(20)]
    scores = rouge_scores(texts[:10], texts[10:])
    scorer = RougeScorer(list(METRICS.values()), use_stemmer=True)
    for row, found, wanted in zip(scores, texts[:10], texts[10:], strict=True):
        theirs = scorer.score(wanted, found)
        assert row.tolist() == [theirs[name].fmeasure for name in METRICS.values()]


@pytest.mark.parametrize(
    ("found", "wanted", "scores"),
    [
        ("Кошка сидит", "Кошка сидит", [1, 1, 1, 1]),
        ("Собака спит. Кошка сидит.", "Кошка сидит. Собака спит.", [1, 2 / 3, 1 / 2, 1]),
        ("在2020年", "在1999年", [2 / 3, 0, 2 / 3, 2 / 3]),  # letters, and a number
        ("猫坐。狗睡。", "狗睡。猫坐。", [1, 2 / 3, 1 / 2, 1]),
        ("القطة تجلس", "القطة تنام", [1 / 2, 0, 1 / 2, 1 / 2]),
        ("٥ ٦", "٥ ٦", [1, 1, 1, 1]),
        ("२०२३ में", "2023 में", [1, 1, 1, 1]),
        ("１２３ ４", "１２３ ５", [1 / 2, 0, 1 / 2, 1 / 2]),
        ("كتاب ٥ صفحات ١٢", "كتاب ٧ صفحات ٩٩", [1 / 2, 0, 1 / 2, 1 / 2]),
        ("二〇二三", "二一二三", [3 / 4, 1 / 3, 3 / 4, 3 / 4]),
        ("፲፪", "፲፪", [1, 0, 1, 1]),  # Ethiopic numerals
    ],
)
def test_other_scripts(found, wanted, scores):
    assert rouge_scores([found], [wanted])[0] == pytest.approx(scores)
    assert "|other-scripts:words|" in rouge_signature("", 10, [found])


def test_words_of_latin_letters_are_the_packages():
    """The package rouge-score sees only the unaccented letters of a word."""
    texts = ["Déjà vu — naïve “cafés” cost £5…", "The Straße in Łódź, ½ of m² isn't it?"]
    scorer = RougeScorer(list(METRICS.values()), use_stemmer=True)
    theirs = scorer.score(*texts)
    assert rouge_scores(texts[1:], texts[:1])[0].tolist() == [
        theirs[name].fmeasure for name in METRICS.values()
    ]
    assert "scripts" not in rouge_signature("", 10, texts)


def test_intervals_hold_the_mean_and_shrink_with_more_summaries():
    rng = np.random.default_rng(2)
    few, many = (rng.uniform(size=(count, 4)) for count in (20, 2000))
    for scores in (few, many):
        for (mean, low, high), column in zip(rouge_intervals(scores, 500), scores.T, strict=True):
            assert mean == pytest.approx(column.mean()) and low < mean < high
            # 1.96 standard errors on each side.
            assert high - low == pytest.approx(3.92 * column.std() / len(column) ** 0.5, rel=0.2)


def test_unequal_counts_are_refused():
    with pytest.raises(InputError, match="1 summaries for 2 references"):
        rouge_scores(["a"], ["a", "b"])
    with pytest.raises(InputError, match="references: found 'a b', expected a list of strings"):
        rouge_scores(["a b"], "a b")


def test_the_signature_names_what_counts():
    assert rouge_signature("beam:4", 1000).startswith("rouge-score:0.1.2|f-measure|stemmed|")
