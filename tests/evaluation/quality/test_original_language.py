"""BLEU by original language, compared with sacreBLEU's --origlang."""

import random

import pytest
import sacrebleu
from sacrebleu.utils import filter_subset

from tests.corpus.importers.published_sets import NAME, publish
from weebill.corpus.importers.sacrebleu_sets import SacrebleuImporter
from weebill.corpus.sources import Places
from weebill.errors import InputError
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.original_language import measure_by_language
from weebill.evaluation.quality.translation_quality import TestSet

PAIR = ("en", "de")
VARIANT = Variant("tiny", "unpruned", "float32")
WORDS = ["Der", "Vogel", "singt", "laut", ",", "heute", "nicht", "mehr", "und", "schweigt"]


def sentence(number: int) -> str:
    return " ".join(random.Random(number).choices(WORDS, k=9)) + "."


@pytest.fixture
def test_set(tmp_path, monkeypatch):
    """Publish 40 sentences in three documents, two of which are originally English; return the test set."""
    parts = [("en", range(15)), ("de", range(15, 27)), ("en", range(27, 40))]
    documents = [(language, [sentence(n) for n in numbers]) for language, numbers in parts]
    publish(tmp_path, monkeypatch, documents)
    importer = SacrebleuImporter(name=NAME)
    pairs = list(importer.rows(importer.sources(PAIR, None, Places()), PAIR, None))
    return TestSet(NAME, *map(list, zip(*pairs, strict=True)))


def by_sacrebleu(lines: list[str], references: list[str], language: str | None = None) -> float:
    """Compute BLEU as the command `sacrebleu -t wmt99 -l en-de --origlang LANGUAGE` does."""
    chosen = filter_subset([lines, references], NAME, "-".join(PAIR), language)
    return sacrebleu.corpus_bleu(chosen[0], [chosen[1]]).score


def test_scores_are_those_of_sacrebleus_origlang(test_set):
    draw = random.Random(1)
    lines = [
        " ".join(word for word in line.split() if draw.random() < 0.8)
        for line in test_set.references
    ]
    languages = SacrebleuImporter(name=NAME).original_languages(PAIR, Places())
    found = measure_by_language({VARIANT: lines}, test_set, languages, bootstrap=50, target="de")
    assert [(one.language, one.sentences) for one in found] == [("en", 28), ("de", 12)]
    for one in found:
        told = by_sacrebleu(lines, test_set.references, one.language)
        assert one.score == pytest.approx(told, abs=1e-9)
        assert 0 < one.low < one.score < one.high < 100
    whole = by_sacrebleu(lines, test_set.references)
    assert min(one.score for one in found) < whole < max(one.score for one in found)


def test_languages_of_another_text_are_refused(test_set):
    with pytest.raises(InputError, match=r"'wmt99': 40 pairs, .* languages of 39; leave it out of"):
        measure_by_language(
            {VARIANT: test_set.references}, test_set, ["en"] * 39, bootstrap=50, target="de"
        )
