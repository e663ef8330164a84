"""Sides are swapped, and dropped rows are left out."""

import pyarrow as pa

from weebill.corpus.reversal import reverse
from weebill.corpus.table import read_columns, write_table


def test_reverse(tmp_path, as_table):
    table = as_table([("a", "x"), ("b", "y"), ("c", "z")])
    dropped = pa.array([None, "urls", None], pa.string())
    write_table(tmp_path / "one", table.set_column(4, "dropped_by", dropped))
    write_table(tmp_path / "two", as_table([("d", "w")]))
    reverse([tmp_path / "one", tmp_path / "two"], tmp_path / "out")
    rows = read_columns(tmp_path / "out", ["source", "target"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [("x", "a"), ("z", "c"), ("w", "d")]
