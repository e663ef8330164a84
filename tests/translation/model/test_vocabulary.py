"""Vocabularies: special pieces, round trips, determinism, clear errors."""

import pytest

from tests.translation.conftest import sentence_pairs
from weebill.errors import InputError
from weebill.translation.model.vocabulary import EOS, Vocabulary, train_vocabulary

TEXTS = [text for pair in sentence_pairs() for text in pair]


def test_round_trip_with_end_last(vocabulary):
    ids = vocabulary.encode(TEXTS)
    assert all(sentence[-1] == EOS and EOS not in sentence[:-1] for sentence in ids)
    assert vocabulary.decode(ids) == TEXTS


def test_training_twice_gives_equal_files(tmp_path):
    for name in ("a", "b"):
        train_vocabulary(iter(TEXTS), tmp_path / name, size=45, seed=3, max_sentences=60)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_too_large_a_size_names_the_key(tmp_path):
    with pytest.raises(InputError, match=r"choose a smaller vocabulary\.size"):
        train_vocabulary(TEXTS, tmp_path / "v.spm", size=5000, seed=1)
    assert not list(tmp_path.iterdir())


def test_no_text_and_no_model_are_clear_errors(tmp_path):
    with pytest.raises(InputError, match="no text to train on"):
        train_vocabulary([], tmp_path / "v.spm", size=50, seed=1)
    with pytest.raises(InputError, match="no such vocabulary"):
        Vocabulary(tmp_path / "v.spm")
    (tmp_path / "v.spm").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="not a SentencePiece model"):
        Vocabulary(tmp_path / "v.spm")
