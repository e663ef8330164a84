"""The classifier's training text: the cleanest kept rows by their scores, equal for equal seeds."""

import pyarrow as pa
import pytest

from weebill.corpus.bicleaner.clean_pairs import write_clean_pairs
from weebill.corpus.table import ShardWriter, TableWriter
from weebill.errors import InputError
from weebill.experiment.scores import SCORES

NAMES = ("language_model_source", "lexical_translation")  # lower is better, higher is better
ROWS = 3000


@pytest.fixture
def corpus(tmp_path, as_table):
    """Write a corpus in which row r is the pair "s r", "t r"; every third row is dropped."""
    dropped = ["urls" if row % 3 == 0 else None for row in range(ROWS)]
    table = as_table([(f"s {row}", f"t {row}") for row in range(ROWS)], dropped=dropped)
    with ShardWriter(tmp_path / "cleaned", table.schema, 1000) as writer:
        writer.write(table)
    return tmp_path / "cleaned"


@pytest.fixture
def scores(tmp_path):
    """Write two scores in different units: earlier rows are better, and pairs of neighbours are equal."""
    found = []
    for name, unit in zip(NAMES, (1.0, -1000.0), strict=True):
        column = SCORES[name].column
        values = [None if r % 3 == 0 else unit * (r // 2) for r in range(ROWS)]
        table = pa.table({column: pa.array(values, pa.float64())})
        with TableWriter(tmp_path / name, table.schema) as writer:
            writer.write(table)
        found.append((name, tmp_path / name))
    return found


def drawn(folder):
    """Return the row numbers of training and validation."""
    both = []
    for name in ("training", "validation"):
        lines = (folder / f"{name}.tsv").read_text().splitlines()
        rows = [int(line.split("\t")[0][2:]) for line in lines]
        assert [f"s {row}\tt {row}" for row in rows] == lines
        both.append(rows)
    return both


def test_without_scores_any_kept_rows(tmp_path, corpus):
    write_clean_pairs({corpus: []}, tmp_path / "out", 500, 0.1, 1)
    training, validation = drawn(tmp_path / "out")
    assert (len(training), len(validation)) == (450, 50)
    rows = {*training, *validation}
    assert len(rows) == 500 and not any(row % 3 == 0 for row in rows)
    assert abs(sum(rows) / 500 - ROWS / 2) < 5 * ROWS / 12**0.5 / 500**0.5  # 5 deviations


def test_the_cleanest_by_the_sum_of_their_ranks(tmp_path, corpus, scores):
    write_clean_pairs({corpus: scores}, tmp_path / "out", 500, 0.25, 1)
    training, validation = drawn(tmp_path / "out")
    # All 2,000 kept rows are drawn; the first quarter of them is the best.
    kept = [row for row in range(ROWS) if row % 3]
    assert sorted(training + validation) == kept[:500]
    assert training != sorted(training)


def test_equal_seeds_draw_equal_rows(tmp_path, corpus, scores):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_clean_pairs({corpus: scores}, tmp_path / name, 200, 0.5, seed)
    assert drawn(tmp_path / "a") == drawn(tmp_path / "b") != drawn(tmp_path / "c")


def test_fewer_rows_than_asked_for(tmp_path, corpus, scores):
    write_clean_pairs({corpus: scores}, tmp_path / "out", 100_000, 0.5, 1)
    assert sum(map(len, drawn(tmp_path / "out"))) == 1000


def test_too_few_rows(tmp_path, corpus, scores):
    with pytest.raises(InputError, match="have 20 pairs to train bicleaner on, expected 100"):
        write_clean_pairs({corpus: scores}, tmp_path / "out", 100_000, 0.01, 1)
