"""Vocabularies: special pieces, round trips, determinism, clear errors."""

import pyarrow as pa
import pytest

from tests.translation.conftest import sentence_pairs
from weebill.corpus.table import write_table
from weebill.errors import InputError
from weebill.translation.model.vocabulary import OWN, sampled_texts, train_vocabulary
from weebill_runtime.normalisation import Normalisation
from weebill_runtime.vocabulary import EOS, UNK, Vocabulary

TEXTS = [text for pair in sentence_pairs() for text in pair]


def test_round_trip_with_end_last(vocabulary):
    ids = vocabulary.encode(TEXTS)
    assert all(sentence[-1] == EOS and EOS not in sentence[:-1] for sentence in ids)
    assert vocabulary.decode(ids) == TEXTS


def test_training_twice_gives_equal_files(tmp_path):
    for name in ("a", "b"):
        train_vocabulary(iter(TEXTS), tmp_path / name, size=45, seed=3, max_sentences=60)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_size_that_does_not_fit_names_the_key(tmp_path):
    with pytest.raises(InputError, match=r"choose a smaller vocabulary\.size"):
        train_vocabulary(TEXTS, tmp_path / "v.spm", size=5000, seed=1)
    han = "".join(map(chr, range(0x4E00, 0x4F00)))
    for bytes_too in (False, True):
        size = 200 + 256 * bytes_too
        with pytest.raises(InputError, match=r"larger vocabulary\.size, or a smaller .*coverage"):
            train_vocabulary([han], tmp_path / "v.spm", size, seed=1, byte_fallback=bytes_too)
    assert not list(tmp_path.iterdir())


RARE = ["He has died. 😀", "👨‍👩‍👧 x", "𠮷野家 龘", "ñandú ☃"]


def test_bytes_bring_rare_characters_back(tmp_path):
    train_vocabulary(TEXTS, tmp_path / "v.spm", size=300, seed=1, byte_fallback=True)
    vocabulary = Vocabulary(tmp_path / "v.spm")
    ids = vocabulary.encode(RARE)
    assert not any(UNK in line for line in ids)
    assert vocabulary.decode(ids) == RARE
    names = [vocabulary.pieces[piece] for piece in vocabulary.byte_pieces]
    assert names == [f"<0x{byte:02X}>" for byte in range(256)]
    [end_of_line] = [vocabulary.byte_pieces[ord("\n")]]
    assert vocabulary.decode([[end_of_line, end_of_line]]) == ["  "]


def test_a_smaller_coverage_makes_room(tmp_path):
    han = "".join(map(chr, range(0x4E00, 0x4F00)))
    options = {"byte_fallback": True, "character_coverage": 0.98}
    train_vocabulary([*TEXTS * 9, han], tmp_path / "v.spm", size=300, seed=1, **options)
    vocabulary = Vocabulary(tmp_path / "v.spm")
    assert vocabulary.decode(vocabulary.encode([han])) == [han]


def test_the_file_carries_the_normalisation(tmp_path, vocabulary):
    record = Normalisation.of(("en", "ja"))
    for name in ("a", "b"):
        options = {"normalizer": OWN, "byte_fallback": True, "normalisation": record}
        train_vocabulary(TEXTS, tmp_path / name, size=300, seed=1, **options)
    made = Vocabulary(tmp_path / "a")
    assert made.normalisation == record
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert made.encode_input(["“the cat”"]) == made.encode(['"the cat"'])
    assert made.encode_input(["“猫”"], "target") == made.encode(["“猫”"])
    assert vocabulary.normalisation is None  # like vocabularies of older versions
    assert vocabulary.encode_input(["“the cat”"]) == vocabulary.encode(["“the cat”"])


def test_no_text_and_no_model_are_clear_errors(tmp_path):
    with pytest.raises(InputError, match="no text to train on"):
        train_vocabulary([], tmp_path / "v.spm", size=50, seed=1)
    with pytest.raises(InputError, match="no such vocabulary"):
        Vocabulary(tmp_path / "v.spm")
    (tmp_path / "v.spm").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="not a SentencePiece model"):
        Vocabulary(tmp_path / "v.spm")


def test_both_sides_count_alike_however_much_text_one_has(tmp_path):
    """A source-side corpus, nine times as large as the parallel one, gets at most half of the sample."""
    rows = {"source": [f"s{n}" for n in range(100)], "target": [f"t{n}" for n in range(100)]}
    write_table(tmp_path / "pairs.parquet", pa.table(rows))
    alone = {"source": [f"m{n}" for n in range(900)], "target": pa.nulls(900, pa.string())}
    write_table(tmp_path / "alone.parquet", pa.table(alone))
    corpora = [tmp_path / "pairs.parquet", tmp_path / "alone.parquet"]
    drawn = sampled_texts(corpora, ("source", "target"), seed=1, max_sentences=120)
    assert len(drawn) == 120
    assert sum(text[0] == "t" for text in drawn) == 60
    assert len(sampled_texts(corpora, ("target",), seed=1, max_sentences=120)) == 100
