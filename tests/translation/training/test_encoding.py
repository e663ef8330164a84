"""Encoded text: kept rows with their weights; reused only for the same text and code."""

import logging
import shutil
import subprocess

import numpy as np
import pyarrow as pa
import pytest

from tests.forking import FORK, fork
from weebill.corpus.table import write_table
from weebill.errors import InputError
from weebill.translation.training import encoding
from weebill.translation.training.encoding import encode_corpus, links_field, shared_corpus
from weebill.translation.training.pieces import encoded
from weebill_runtime.vocabulary import Vocabulary


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
    assert len(corpus) == 4  # the long row is left out
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


def test_several_processes_write_the_bytes_of_one(tmp_path, pair, monkeypatch):
    """The text has more parts than processes, pairs that are left out, groups, links and two vocabularies."""
    table, rows = tmp_path / "t.parquet", 23
    random = np.random.default_rng(1)
    words = ["the", "cat", "sees", "a", "house", "die", "Katze", "sieht", "ein", "Haus"]
    text = [" ".join(random.choice(words, random.integers(1, 9))) for _ in range(2 * rows)]
    fields = {
        "source": text[:rows],
        "target": text[rows:],
        "weight": random.random(rows),
        "corpus": list("ab" * 11 + "a"),
        "links": [[0, 0] * int(n) for n in random.integers(0, 3, rows)],
    }
    schema = pa.table(fields).schema.set(4, links_field(pair))
    write_table(table, pa.table(fields, schema))
    read = encoding.read_batches
    monkeypatch.setattr(encoding, "read_batches", lambda table: read(table, rows=4))
    for processes in (1, 3):
        folder = tmp_path / str(processes)
        corpus = encode_corpus([table], pair, folder, 12, True, True, processes)
    assert 0 < len(corpus) < rows
    one, several = (sorted((tmp_path / name).iterdir()) for name in "13")
    assert [path.name for path in one] == [path.name for path in several]
    for first, second in zip(one, several, strict=True):
        assert first.read_bytes() == second.read_bytes()


def test_a_process_that_fails_ends_the_encoding(vocabulary, tmp_path):
    gone = Vocabulary(shutil.copy(vocabulary.path, tmp_path))
    gone.path.unlink()
    parts = iter([(["the cat"], ["die Katze"])] * 3)
    with pytest.raises(subprocess.CalledProcessError):
        list(encoded(parts, gone, processes=2))


def test_trainings_at_the_same_time_encode_a_text_once(tmp_path, vocabulary):
    """Four processes need two texts at the same time; the first process of each text encodes it."""
    for name, text in (("a", "the cat"), ("b", "the dog")):
        table = pa.table({"source": [text], "target": ["die Katze"]})
        write_table(tmp_path / f"{name}.parquet", table)
    made = FORK.Queue()

    def need(name):
        encode = encoding._encode
        encoding._encode = lambda *arguments: made.put(name) or encode(*arguments)
        corpus = shared_corpus(
            [tmp_path / f"{name}.parquet"], vocabulary, tmp_path / "shared", 20, False, False
        )
        assert len(corpus) == 1

    processes = [fork(need, name) for name in "abab"]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert sorted([made.get(timeout=5), made.get(timeout=5)]) == ["a", "b"]
    assert made.empty()
    assert len(list((tmp_path / "shared").iterdir())) == 2
