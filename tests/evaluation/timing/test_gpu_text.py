"""Text that is timed on a GPU: first whole test sets, which sacreBLEU scores, then lines of a corpus."""

import pytest
from sacrebleu import corpus_bleu

from weebill.errors import InputError
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.evaluation.timing.gpu_text import TimedText

FIRST = TestSet("first", ["a b", "c", "d e f"], ["Das ist ein Haus", "Ja", "Nein, das ist gut so"])
SECOND = TestSet("second", ["g", "h i"], ["Es regnet heute sehr stark", "Der Hund bellt laut"])
CORPUS = ["j k l m", "n", "o"]


def test_the_test_sets_come_first_and_the_corpus_fills_up():
    text = TimedText.of([FIRST, SECOND], CORPUS, 7, "web")
    assert text.name == "first, second, web"
    assert TimedText.of([FIRST, SECOND], CORPUS, 5, "web").name == "first, second"
    assert text.sentences == [*FIRST.sources, *SECOND.sources, *CORPUS[:2]]
    assert (text.words, text.scored) == (2 + 1 + 3 + 1 + 2 + 4 + 1, 5)
    assert len(TimedText.of([FIRST, SECOND], CORPUS).sentences) == 8
    assert len(TimedText.of([FIRST], CORPUS, 1_000_000).sentences) == 6  # a short corpus
    assert text.first(2).sentences == ["a b", "c"]


def test_whole_test_sets_are_scored_by_the_timed_lines():
    text = TimedText.of([FIRST, SECOND], CORPUS, 7)
    lines = [*FIRST.references[:2], "das ist gut", "Es regnet heute stark", "x", "y", "z"]
    expected = {
        one.name: corpus_bleu(lines[slice(*span)], [list(one.references)]).score
        for one, span in ((FIRST, (0, 3)), (SECOND, (3, 5)))
    }
    assert text.scores(lines, "de") == text.scores(lines[:5], "de") == expected
    assert 0 < expected["second"] < expected["first"] < 100
    assert "nrefs:1|" in text.signature("de") and "tok:13a" in text.signature("de")
    assert "tok:zh" in text.signature("zh")


def test_a_test_set_that_is_cut_is_not_scored():
    text = TimedText.of([FIRST, SECOND], CORPUS, 4)
    assert text.sentences == [*FIRST.sources, "g"]
    assert list(text.scores(["x"] * 4, "de")) == ["first"]
    assert text.first(4).scores(["x"] * 4, "de") == {}
    assert text.first(4).signature("de") == ""


def test_a_text_without_words_is_refused():
    with pytest.raises(InputError, match="no words to translate; give a test set"):
        TimedText.of([TestSet("empty", [" "], ["x"])])
