"""Sentences as pieces: cut as transformers cuts them, and counted whole."""

import pytest
from transformers import PreTrainedTokenizerFast

from goldcrest.errors import InputError
from goldcrest.metric.tokenizer import SentenceTokenizer, train_tokenizer
from tests.metric.small import REFERENCES, SOURCES, SYSTEMS


@pytest.fixture
def folder(tmp_path):
    train_tokenizer(tmp_path / "tokenizer.json", [*SOURCES, *REFERENCES], 100)
    return tmp_path


def test_pieces_are_those_of_transformers(folder):
    texts = [*SOURCES, *SYSTEMS["bad"], "", "  Ja. \n", "a <mask> b </s> c", "ﬁ ½ 中文 \u00a0"]
    theirs = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    ours = SentenceTokenizer(folder)
    for longest in (7, 500):
        pieces, full = ours.encode(texts, longest)
        assert pieces == theirs(texts, truncation=True, max_length=longest)["input_ids"]
        assert full == [len(one) for one in theirs(texts)["input_ids"]]


def test_ids_are_those_of_xlm_r(folder):
    ours = SentenceTokenizer(folder)
    ((first, *_, last),), _ = ours.encode(["Ja."], 10)
    assert (first, ours.pad, last) == (0, 1, 2)


def test_it_is_saved_without_its_settings(folder, tmp_path):
    ours = SentenceTokenizer(folder)
    before = ours.sha256
    ours.encode(["Ja."], 4)
    assert ours.sha256 == before
    (tmp_path / "copy").mkdir()
    ours.save(tmp_path / "copy")
    assert SentenceTokenizer(tmp_path / "copy").sha256 == before


def test_a_folder_without_one(tmp_path):
    with pytest.raises(InputError, match=r"no tokenizer \(tokenizer.json or sentencepiece"):
        SentenceTokenizer(tmp_path)
