"""The shortlist as a set of columns, and as a file."""

import numpy as np
import pytest

from goldcrest.errors import InputError
from goldcrest.runtime.shortlist import Shortlist

SHORTLIST = Shortlist(
    np.array([[0, -1], [1, -1], [5, 3], [6, -1], [4, 5], [-1, -1], [2, 6]], dtype=np.int32),
    np.array([6, 2], dtype=np.int32),
)


def test_columns_are_the_union_in_order():
    assert SHORTLIST.columns([2, 4, 2]).tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert SHORTLIST.columns([5]).tolist() == [0, 1, 2, 6], (
        "the end, the unknown piece, and what is frequent"
    )
    assert SHORTLIST.columns([]).tolist() == [0, 1, 2, 6]


def test_a_file_gives_it_back(tmp_path):
    SHORTLIST.save(tmp_path / "s")
    again = Shortlist.load(tmp_path / "s", 7)
    assert (again.candidates == SHORTLIST.candidates).all()
    assert (again.frequent == SHORTLIST.frequent).all()


def test_another_vocabulary_or_no_shortlist_is_refused(tmp_path):
    SHORTLIST.save(tmp_path / "s")
    with pytest.raises(InputError, match="of 7 pieces, the model has 8"):
        Shortlist.load(tmp_path / "s", 8)
    (tmp_path / "damaged").write_bytes((tmp_path / "s").read_bytes()[:20])
    for name in ("damaged", "missing"):
        with pytest.raises(InputError, match=f"{name}: no shortlist, or damaged"):
            Shortlist.load(tmp_path / name, 7)
