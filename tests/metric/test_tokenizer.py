"""Sentences as pieces: cropped as transformers does, and counted before cropping."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from transformers import PreTrainedTokenizerFast

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS
from weebill.errors import InputError
from weebill.metric.tokenizer import SentenceTokenizer, make_tokenizer, train_tokenizer


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


def test_equal_text_makes_equal_tokenizers(folder, tmp_path):
    make_tokenizer(tmp_path / "again", [*SOURCES, *REFERENCES], 100)
    assert (tmp_path / "again/tokenizer.json").read_bytes() == (
        folder / "tokenizer.json"
    ).read_bytes()
    assert SentenceTokenizer(tmp_path / "again").size <= 100
    with pytest.raises(InputError, match="of 20 pieces cannot be trained on this text"):
        make_tokenizer(tmp_path / "again", [*SOURCES, *REFERENCES], 20)
    with pytest.raises(InputError, match="cannot be trained"):
        make_tokenizer(tmp_path / "again", [], 100)


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


def test_threads_may_share_a_tokenizer(folder):
    """The library's tokenizer stores the length at which it cuts, so threads could disturb each other."""
    ours = SentenceTokenizer(folder)

    def lengths(longest):
        return {
            len(one) for _ in range(100) for one in ours.encode(SYSTEMS["bad"][4:5], longest)[0]
        }

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lengths, [8, 16, 24, 32])) == [{8}, {16}, {24}, {32}]
