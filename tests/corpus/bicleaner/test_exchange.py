"""Pairs are written and scores are read row by row; killed scoring resumes; errors name parts with wrong counts."""

import gzip

import numpy as np
import pytest

from weebill.corpus.bicleaner.classification import part_paths, score_pairs
from weebill.corpus.bicleaner.exchange import join_scores, read_scores, write_pairs
from weebill.corpus.table import ShardWriter, read_columns, shard_paths
from weebill.errors import InputError
from weebill.experiment.scores import SCORES

SCORE = SCORES["bicleaner"]
ROWS = 25
ODD = {3: "a\ttab", 5: "line\nbreak\r", 6: "\u2028separator \x85", 7: "NUL\x00 é 漢"}


def dropped(row):
    return row % 4 == 0


@pytest.fixture
def corpus(tmp_path, as_table):
    """Write 25 rows in shards of 10; every fourth is dropped, some have characters that end lines elsewhere."""
    marks = ["urls" if dropped(row) else None for row in range(ROWS)]
    pairs = [(ODD.get(row, "s" * row), "t" * (row % 7)) for row in range(ROWS)]
    table = as_table(pairs, dropped=marks)
    with ShardWriter(tmp_path / "cleaned", table.schema, 10) as writer:
        writer.write(table)
    return tmp_path / "cleaned"


@pytest.fixture
def pairs(tmp_path, corpus):
    """Write the 18 kept rows in parts of 7."""
    assert write_pairs(corpus, tmp_path / "pairs", 7) == 18
    assert len(part_paths(tmp_path / "pairs")) == 3
    return tmp_path / "pairs"


class Lengths:
    """Score that is easy to check: lengths; it counts pairs, and may be killed."""

    def __init__(self, stop_after=None):
        self.pairs, self.stop_after = 0, stop_after

    def __call__(self, sources, targets):
        if self.stop_after is not None and self.pairs >= self.stop_after:
            raise KeyboardInterrupt
        self.pairs += len(sources)
        return [1 / (1 + len(s) + 100 * len(t)) for s, t in zip(sources, targets, strict=True)]


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_every_row_gets_its_own_score(tmp_path, corpus, pairs):
    score_pairs(pairs, tmp_path / "parts", Lengths, {}, block_rows=3)
    join_scores(corpus, pairs, tmp_path / "parts", tmp_path / "scores", SCORE)
    found = [shard.name for shard in shard_paths(tmp_path / "scores")]
    assert found == [shard.name for shard in shard_paths(corpus)]
    texts = read_columns(corpus, ["source", "target"], kept=False).to_pylist()
    wanted = [
        None if dropped(row) else 1 / (1 + len(text["source"]) + 100 * len(text["target"]))
        for row, text in enumerate(texts)
    ]
    table = read_columns(tmp_path / "scores", [SCORE.column])
    assert table[SCORE.column].to_pylist() == wanted


def test_equal_corpora_make_equal_files(tmp_path, corpus, pairs):
    write_pairs(corpus, tmp_path / "again", 7)
    assert contents(tmp_path / "again") == contents(pairs)


def test_killed_at_every_part(tmp_path, pairs):
    score_pairs(pairs, tmp_path / "whole", Lengths, {"model": "a"}, block_rows=4)
    for stop_after in (0, 4, 7, 7):
        with pytest.raises(KeyboardInterrupt):
            score_pairs(pairs, tmp_path / "out", lambda n=stop_after: Lengths(n), {"model": "a"}, 4)
        assert not (tmp_path / "out").exists()
    last = Lengths()
    score_pairs(pairs, tmp_path / "out", lambda: last, {"model": "a"}, block_rows=4)
    assert last.pairs == 4  # only the third part
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert not (tmp_path / "out.work").exists()


def test_parts_of_another_model_are_not_used(tmp_path, pairs):
    with pytest.raises(KeyboardInterrupt):
        score_pairs(pairs, tmp_path / "out", lambda: Lengths(14), {"model": "a"}, 7)
    scorer = Lengths()
    score_pairs(pairs, tmp_path / "out", lambda: scorer, {"model": "b"}, 7)
    assert scorer.pairs == 18


def test_a_part_with_a_score_less_is_named(tmp_path, pairs):
    score_pairs(pairs, tmp_path / "parts", Lengths, {})
    part = tmp_path / "parts/part-00001.txt"
    part.write_text("".join(part.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(InputError, match=r"part-00001\.txt: 6 scores for the 7 pairs"):
        read_scores(pairs, tmp_path / "parts")


def test_what_is_no_number_is_named(tmp_path, pairs):
    score_pairs(pairs, tmp_path / "parts", Lengths, {})
    part = tmp_path / "parts/part-00002.txt"
    part.write_text(part.read_text().replace("0.", "zero ", 1))
    with pytest.raises(InputError, match=r"part-00002\.txt:1: found 'zero .*, expected a score"):
        read_scores(pairs, tmp_path / "parts")


@pytest.mark.parametrize("rows", [17, 19])
def test_scores_of_another_corpus_are_refused(tmp_path, corpus, pairs, as_table, rows):
    score_pairs(pairs, tmp_path / "parts", Lengths, {})
    table = as_table([("a", "b")] * rows)
    with ShardWriter(tmp_path / "other", table.schema, 10) as writer:
        writer.write(table)
    with pytest.raises(InputError, match=r"parts: 18 scores, but .*other has"):
        join_scores(tmp_path / "other", pairs, tmp_path / "parts", tmp_path / "out", SCORE)
    assert not (tmp_path / "out").exists()


def test_a_classifier_that_loses_rows_is_an_error(tmp_path, pairs):
    with pytest.raises(InputError, match=r"part-00000\.tsv\.gz: 6 scores for 7 pairs"):
        score_pairs(pairs, tmp_path / "out", lambda: lambda s, t: np.ones(len(s) - 1), {})


def test_text_that_is_not_utf_8_is_an_error(tmp_path, pairs):
    with gzip.open(pairs / "part-00000.tsv.gz", "wb") as file:
        file.write(b"caf\xe9\tcoffee\n")
    with pytest.raises(InputError, match=r"part-00000\.tsv\.gz:1: not UTF-8"):
        score_pairs(pairs, tmp_path / "out", lambda: Lengths(), {})


def test_a_missing_side_is_an_error(tmp_path, as_table):
    with ShardWriter(tmp_path / "c", as_table([("a", None)]).schema) as writer:
        writer.write(as_table([("a", None)]))
    with pytest.raises(InputError, match="a kept row lacks a side"):
        write_pairs(tmp_path / "c", tmp_path / "pairs")
