"""The corpus of a distilled metric: selected pairs, disjoint tables, joined translations, and their scores."""

import numpy as np
import pyarrow as pa
import pytest

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_members
from weebill.corpus.table import read_columns, write_table
from weebill.errors import InputError
from weebill.metric import distillation_corpus
from weebill.metric.distillation_corpus import join_translations, score_tuples, select_pairs
from weebill.metric.ensemble import Ensemble

APART = {"rows": 3, "validation": 2}


def paths(tmp_path):
    return [tmp_path / f"{name}.parquet" for name in ("pairs", "training", "validation")]


def rows_of(path, columns=("source", "row")):
    table = read_columns(path, list(columns))
    return list(zip(*(table[name].to_pylist() for name in columns), strict=True))


def scored(tmp_path, scores):
    count = len(scores)
    table = {
        "source": [f"s{n}" for n in range(count)],
        "target": [f"t{n}" for n in range(count)],
        "corpus": ["c"] * count,
        "row": list(range(count)),
        "dropped_by": [None] * (count - 1) + ["rules"],
        "bicleaner": scores,
    }
    write_table(tmp_path / "table.parquet", pa.table(table))
    return str(tmp_path / "table.parquet")


def test_pairs_of_a_table_by_their_score(tmp_path):
    """Dropped rows and rows below the score are in no table; no row is in two tables."""
    scores = [0.9, 0.5, 0.8, 0.95, 0.79, 1.0, 0.85, 0.81, 0.9, 0.99]
    entry = {"table": scored(tmp_path, scores), "bicleaner": 0.8, "translators": APART}
    select_pairs("x", entry, 1, *paths(tmp_path))
    found = [rows_of(path) for path in paths(tmp_path)]
    assert [len(one) for one in found] == [2, 3, 2]
    assert {row for one in found for _, row in one} == {0, 2, 3, 5, 6, 7, 8}
    assert all(source == f"s{row}" for one in found for source, row in one)


def test_pairs_of_files(tmp_path):
    (tmp_path / "a.en").write_text("".join(f"s{n}\n" for n in range(20)))
    (tmp_path / "a.de").write_text("".join(f"t{n}\n" if n != 4 else " \n" for n in range(20)))
    files = {"source": str(tmp_path / "a.en"), "target": str(tmp_path / "a.de")}
    entry = {**files, "rows": 12, "translators": APART}
    select_pairs("x", entry, 1, *paths(tmp_path))
    assert len(rows_of(paths(tmp_path)[0])) == 7
    again = rows_of(paths(tmp_path)[0])
    select_pairs("x", entry, 1, *paths(tmp_path))
    assert rows_of(paths(tmp_path)[0]) == again
    (tmp_path / "a.de").write_text("t\n")
    with pytest.raises(InputError, match=r"has 20 lines and .* has 1; the sides"):
        select_pairs("x", entry, 1, *paths(tmp_path))


def test_nothing_left(tmp_path):
    entry = {"table": scored(tmp_path, [0.9] * 6), "translators": APART}
    with pytest.raises(InputError, match="5 pairs, of which translators learn from 5"):
        select_pairs("x", entry, 1, *paths(tmp_path))
    plain = tmp_path / "plain.parquet"
    write_table(
        plain, read_columns(scored(tmp_path, [0.9] * 9), ["source", "target", "corpus", "row"])
    )
    with pytest.raises(InputError, match="no column 'bicleaner'"):
        select_pairs(
            "x", {"table": str(plain), "bicleaner": 0.8, "translators": APART}, 1, *paths(tmp_path)
        )


def test_joined(tmp_path):
    """Equal translations count once, missing ones do not count; the pivot's translations are in another column."""
    pairs = {"source": ["a", "b"], "target": ["A", "B"], "corpus": ["c", "c"], "row": [3, 7]}
    direct = {"source": ["a", "b"], "target": ["x", "y"], "corpus": ["c", "c"], "row": [3, 7]}
    pivot = {"source": ["x"], "target": ["unlike"], "corpus": ["c"], "row": [3]}
    for name, table in (("pairs", pairs), ("direct", direct), ("pivot", pivot)):
        write_table(tmp_path / f"{name}.parquet", pa.table(table))
    translated = [(tmp_path / "direct.parquet", "target"), (tmp_path / "pivot.parquet", "source")]
    join_translations(tmp_path / "pairs.parquet", translated, tmp_path / "out.parquet")
    assert rows_of(tmp_path / "out.parquet", ("src", "mt", "ref")) == [
        ("a", "x", "A"),
        ("b", "y", "B"),
    ]
    write_table(tmp_path / "other.parquet", pa.table({**pivot, "row": [9]}))
    with pytest.raises(InputError, match="row 9 is none of"):
        join_translations(
            tmp_path / "pairs.parquet", [(tmp_path / "other.parquet", "source")], tmp_path / "o"
        )


def test_pairs_of_one_key_are_refused(tmp_path):
    """Translations are found by their key, which must be unique."""
    path = scored(tmp_path, [0.9] * 9)
    columns = ["source", "target", "corpus", "row", "dropped_by"]
    table = read_columns(path, columns)
    write_table(path, pa.concat_tables([table, table]))
    with pytest.raises(InputError, match=r"pairs\.x\.table: .* has two pairs of one `corpus` and"):
        select_pairs("x", {"table": path, "translators": APART}, 1, *paths(tmp_path))


def test_a_corpus_part_by_part(tmp_path, monkeypatch):
    """A killed run resumes after the parts that are already scored."""
    models = make_members(tmp_path)
    wanted = Ensemble(models).score(SYSTEMS, SOURCES, REFERENCES)
    monkeypatch.setattr(distillation_corpus, "PART_ROWS", 5)
    columns = {"src": SOURCES * 2, "mt": [*SYSTEMS["good"], *SYSTEMS["bad"]], "ref": REFERENCES * 2}
    write_table(tmp_path / "tuples.parquet", pa.table(columns))
    score, calls = Ensemble.score, []

    def mortal(self, *arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return score(self, *arguments)

    monkeypatch.setattr(Ensemble, "score", mortal)
    arguments = (tmp_path / "tuples.parquet", models, "float32", "cpu", tmp_path / "scored.parquet")
    with pytest.raises(KeyboardInterrupt):
        score_tuples(*arguments)
    assert not (tmp_path / "scored.parquet").exists()
    score_tuples(*arguments)
    assert len(calls) == 4  # two of the three parts were already scored
    found = read_columns(tmp_path / "scored.parquet", ["src", "mt", "ref", "score"]).to_pydict()
    assert {name: found[name] for name in columns} == columns
    np.testing.assert_allclose(found["score"], np.concatenate([*wanted.values()]), atol=1e-6)
    assert not (tmp_path / "scored.parquet.work").exists()
