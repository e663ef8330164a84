"""Joined sentences and their words, in scripts with and without spaces."""

import pytest

from weebill.corpus.cleaning.writing_systems import count_words
from weebill_runtime.unspaced import join_sentences


@pytest.mark.parametrize(
    ("sentences", "joined"),
    [
        (["Good.", "Bye."], "Good. Bye."),
        (["今日は。", "はい"], "今日は。はい"),
        (["你好", "再见"], "你好再见"),
        (["네", "네."], "네 네."),
        (["ไปไหน", "บ้าน"], "ไปไหน บ้าน"),
        (["", "One."], "One."),
    ],
)
def test_sentences_are_joined_as_their_script_does(sentences, joined):
    assert join_sentences((one, " ") for one in sentences) == joined


def test_words():
    lines = ("Don't go, Zoë!", "我们走。", "오늘은 좋네요.", "हिन्दी में", "ไปไหน", "")
    assert list(map(count_words, lines)) == [3, 3, 2, 2, 5, 0]
