"""A score's table has the corpus' shards and rows; a killed job that resumes writes the same bytes."""

import numpy as np
import pytest

from weebill.corpus.scores.scoring import score_corpus
from weebill.corpus.table import ShardWriter, read_columns, shard_paths
from weebill.errors import InputError
from weebill.experiment.scores import SCORES

SCORE = SCORES["reverse_model"]


class Lengths:
    """Score that is easy to check: the lengths of both sides; it counts rows, and may be killed."""

    def __init__(self, stop_after=None):
        self.rows, self.stop_after = 0, stop_after

    def __call__(self, sources, targets):
        if self.stop_after is not None and self.rows >= self.stop_after:
            raise KeyboardInterrupt
        self.rows += len(sources)
        return np.array([100 * len(s) + len(t) for s, t in zip(sources, targets, strict=True)])


@pytest.fixture
def corpus(tmp_path, as_table):
    """Write 25 rows in shards of 10; every fourth is dropped."""
    dropped = ["urls" if row % 4 == 0 else None for row in range(25)]
    table = as_table([("s" * row, "t" * (row % 7)) for row in range(25)], dropped=dropped)
    with ShardWriter(tmp_path / "cleaned", table.schema, 10) as writer:
        writer.write(table)
    return tmp_path / "cleaned"


def contents(folder):
    return {path.name: path.read_bytes() for path in shard_paths(folder)}


def test_same_shards_and_rows(tmp_path, corpus):
    score_corpus(corpus, tmp_path / "scores", SCORE, Lengths(), {}, batch_rows=4)
    assert list(contents(tmp_path / "scores")) == list(contents(corpus))
    column = read_columns(tmp_path / "scores", [SCORE.column])[SCORE.column].to_pylist()
    assert column == [None if row % 4 == 0 else 100 * row + row % 7 for row in range(25)]


def test_killed_at_every_batch(tmp_path, corpus):
    """Finished shards are not scored again, and the bytes equal those of an undisturbed run."""
    score_corpus(corpus, tmp_path / "whole", SCORE, Lengths(), {"model": "a"}, batch_rows=4)
    for stop_after in (0, 3, 9, 8):
        scorer = Lengths(stop_after)
        with pytest.raises(KeyboardInterrupt):
            score_corpus(corpus, tmp_path / "out", SCORE, scorer, {"model": "a"}, batch_rows=4)
        assert not (tmp_path / "out").exists()
    last = Lengths()
    score_corpus(corpus, tmp_path / "out", SCORE, last, {"model": "a"}, batch_rows=4)
    assert last.rows == 3  # only the third shard
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert not (tmp_path / "out.work").exists()


def test_shards_of_another_model_are_not_used(tmp_path, corpus):
    with pytest.raises(KeyboardInterrupt):
        score_corpus(corpus, tmp_path / "out", SCORE, Lengths(15), {"model": "a"}, batch_rows=4)
    scorer = Lengths()
    score_corpus(corpus, tmp_path / "out", SCORE, scorer, {"model": "b"}, batch_rows=4)
    assert scorer.rows == 18


def test_what_is_no_number_is_an_error(tmp_path, corpus):
    with pytest.raises(InputError, match=r"part-00000\.parquet: reverse_log_probability .* number"):
        score_corpus(corpus, tmp_path / "o", SCORE, lambda s, t: np.full(len(s), np.inf), {})


def test_a_missing_side_is_an_error(tmp_path, as_table):
    with ShardWriter(tmp_path / "c", as_table([("a", None)]).schema) as writer:
        writer.write(as_table([("a", None)]))
    with pytest.raises(InputError, match="a kept row has no target"):
        score_corpus(tmp_path / "c", tmp_path / "o", SCORE, Lengths(), {})


def test_scores_beside_come_row_by_row(tmp_path, corpus):
    """Rows of another score's shards match the texts' rows, for any batch size."""
    score_corpus(corpus, tmp_path / "lengths", SCORE, Lengths(), {}, batch_rows=4)

    def same(sources, targets, reverse_model):
        assert reverse_model.tolist() == Lengths()(sources, targets).tolist()
        return reverse_model + 1

    beside = {"reverse_model": tmp_path / "lengths"}
    combined = SCORES["combined"]
    score_corpus(corpus, tmp_path / "o", combined, same, {}, beside, batch_rows=3)
    column = read_columns(tmp_path / "o", [combined.column])[combined.column].to_pylist()
    assert column == [None if row % 4 == 0 else 100 * row + row % 7 + 1 for row in range(25)]


def test_scores_beside_of_other_rows_are_an_error(tmp_path, corpus, as_table):
    with ShardWriter(tmp_path / "c", as_table([("a", "b")]).schema) as writer:
        writer.write(as_table([("a", "b")]))
    score_corpus(tmp_path / "c", tmp_path / "lengths", SCORE, Lengths(), {})
    beside = {"reverse_model": tmp_path / "lengths"}
    with pytest.raises(InputError, match=r"has 1 shards where .* has 3"):
        score_corpus(corpus, tmp_path / "o", SCORES["combined"], Lengths(), {}, beside)
