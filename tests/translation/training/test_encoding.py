"""Encoded text: kept rows with their weights, reused only for the same text and code."""

import logging

import numpy as np
import pyarrow as pa
import pytest

from weebill.corpus.table import write_table
from weebill.errors import InputError
from weebill.translation.training import encoding
from weebill.translation.training.encoding import encode_corpus


def test_encoding_keeps_kept_rows_in_order_with_weights(tmp_path, vocabulary):
    table = pa.table(
        {
            "source": ["the cat", "the dog", "a child sees the tree . " * 3, "my friend"],
            "target": ["die Katze", "der Hund", "ein Kind", "mein Freund"],
            "dropped_by": [None, "rules.length", None, None],
            "weight": [0.5, 1.0, 1.0, None],
        }
    )
    write_table(tmp_path / "t.parquet", table)
    corpus = encode_corpus([tmp_path / "t.parquet"] * 2, vocabulary, tmp_path / "encoded", 20)
    assert len(corpus) == 4  # the long one is left out
    batch = corpus.batch(np.array([1, 0]))
    texts = vocabulary.decode(
        [ids[mask].tolist() for ids, mask in zip(batch.source, batch.source_mask, strict=True)]
    )
    assert texts == ["my friend", "the cat"]
    assert batch.weight.tolist() == [1.0, 0.5]


def test_each_side_is_encoded_by_its_own_vocabulary(tmp_path, pair):
    text = {"source": ["the cat", "a child"], "target": ["die Katze", "ein Kind"]}
    write_table(tmp_path / "t.parquet", pa.table(text))
    corpus = encode_corpus([tmp_path / "t.parquet"], pair, tmp_path / "encoded", 20)
    batch = corpus.batch(np.array([1, 0]))
    for side in ("source", "target"):
        ids, masks = getattr(batch, side), getattr(batch, f"{side}_mask")
        pieces = [row[mask].tolist() for row, mask in zip(ids, masks, strict=True)]
        assert getattr(pair, side).decode(pieces) == text[side][::-1]


def test_what_was_encoded_is_used_for_the_same_text_alone(tmp_path, vocabulary):
    table, folder = tmp_path / "t.parquet", tmp_path / "encoded"
    write_table(table, pa.table({"source": ["the cat", "the dog"], "target": ["die Katze"] * 2}))
    encode_corpus([table], vocabulary, folder, 20)
    made = (folder / "source.ids").stat().st_ino
    assert len(encode_corpus([table], vocabulary, folder, 20)) == 2
    assert (folder / "source.ids").stat().st_ino == made
    write_table(table, pa.table({"source": ["the cat"], "target": ["die Katze"]}))
    assert len(encode_corpus([table], vocabulary, folder, 20)) == 1
    with pytest.raises(InputError, match="at most 1 pieces"):
        encode_corpus([table], vocabulary, folder, 1)
    assert encode_corpus([table], vocabulary, folder, 20).identity["max_pieces"] == 20


def test_what_other_code_encoded_is_encoded_again(tmp_path, vocabulary, monkeypatch, caplog):
    table, folder = tmp_path / "t.parquet", tmp_path / "encoded"
    text = {"source": ["the cat", "the dog sees the tree"], "target": ["die Katze", "der Hund"]}
    write_table(table, pa.table(text))
    with caplog.at_level(logging.INFO):
        encode_corpus([table], vocabulary, folder, 10)
        encode_corpus([table], vocabulary, folder, 10)
        assert caplog.text.count("pairs to train on") == 1
        monkeypatch.setattr(encoding, "code_of_module", lambda *modules: "other")
        assert encode_corpus([table], vocabulary, folder, 10).identity["code"] == "other"
    assert caplog.text.count("1 pairs to train on, 1 left out with a side of more than 10") == 2


def test_nothing_to_train_on_is_one_error(tmp_path, vocabulary):
    write_table(
        tmp_path / "t.parquet", pa.table({"source": ["the cat sees"], "target": ["die Katze"]})
    )
    with pytest.raises(InputError, match="no pair of at most 1 pieces"):
        encode_corpus([tmp_path / "t.parquet"], vocabulary, tmp_path / "encoded", 1)
    assert not (tmp_path / "encoded").exists()
