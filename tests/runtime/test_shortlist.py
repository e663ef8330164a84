"""The shortlist as a set of columns, and as a file."""

import numpy as np
import pytest
from safetensors.numpy import save_file

from weebill.errors import InputError
from weebill.runtime.shortlist import save_shortlist
from weebill_runtime.shortlist import Shortlist

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
    save_shortlist(SHORTLIST, tmp_path / "s")
    again = Shortlist.load(tmp_path / "s", (7, None))
    assert (again.candidates == SHORTLIST.candidates).all()
    assert (again.frequent == SHORTLIST.frequent).all()
    assert again.made_with is None


def test_a_file_takes_two_bytes_for_a_candidate(tmp_path):
    """At the papers' size, 32,000 pieces with 50 candidates take 3.2 MB; WNGT20's take about 11 MB."""
    draw = np.random.default_rng(1)
    few = draw.integers(0, 51, 32_000)
    candidates = draw.integers(0, 32_000, (32_000, 50)).astype(np.int32)
    candidates[np.arange(50) >= few[:, None]] = -1
    shortlist = Shortlist(candidates, np.arange(50, dtype=np.int32), "a" * 64)
    save_shortlist(shortlist, tmp_path / "s")
    assert (tmp_path / "s").stat().st_size < 2 * (few.sum() + 32_000 + 50) + 1000
    again = Shortlist.load(tmp_path / "s", (32_000, None), "a" * 64)
    assert again.candidates.dtype == again.frequent.dtype == np.int32
    assert (again.candidates == candidates).all()


def test_two_vocabularies(tmp_path):
    """Three source pieces have candidates among seven target pieces."""
    made = Shortlist(SHORTLIST.candidates[:3], SHORTLIST.frequent, "a" * 64, 7)
    assert made.columns([2]).tolist() == [0, 1, 2, 3, 5, 6]
    save_shortlist(made, tmp_path / "s")
    again = Shortlist.load(tmp_path / "s", (7, 3), "a" * 64)
    assert (again.candidates == made.candidates).all() and again.targets == 7
    for sizes in ((7, None), (3, None), (3, 7), (8, 3)):
        with pytest.raises(InputError, match=r"of 3 and 7 pieces, the model has \d"):
            Shortlist.load(tmp_path / "s", sizes, "a" * 64)


def test_a_vocabulary_of_the_same_size_is_told_apart(tmp_path):
    made = Shortlist(SHORTLIST.candidates, SHORTLIST.frequent, "a" * 64)
    save_shortlist(made, tmp_path / "s")
    assert Shortlist.load(tmp_path / "s", (7, None)).made_with == "a" * 64
    with pytest.raises(InputError, match=r"made with vocabulary a{8}…, the model's is b{8}…"):
        Shortlist.load(tmp_path / "s", (7, None), "b" * 64)


def test_another_vocabulary_or_no_shortlist_is_refused(tmp_path):
    save_shortlist(SHORTLIST, tmp_path / "s")
    with pytest.raises(InputError, match="of 7 pieces, the model has 8"):
        Shortlist.load(tmp_path / "s", (8, None))
    (tmp_path / "damaged").write_bytes((tmp_path / "s").read_bytes()[:20])
    parts = {"candidates": [0, 6], "counts": [1, 0, 0, 0, 0, 0, 1], "frequent": [2]}
    for name, change in {
        "too few": {"candidates": [0]},
        "beyond": {"candidates": [0, 7]},
        "beyond too": {"frequent": [7]},
        "a table": {"counts": [[1, 1]]},
        "a column": {"counts": [[1], [0], [0], [0], [0], [0], [1]]},
    }.items():
        tensors = {key: np.array(value, np.uint16) for key, value in (parts | change).items()}
        save_file(tensors, tmp_path / name)
    save_file({"weight": np.ones(3)}, tmp_path / "a model")
    header = b'{"counts": 5}'
    (tmp_path / "odd").write_bytes(len(header).to_bytes(8, "little") + header)
    for name in (
        "odd",
        "damaged",
        "missing",
        "too few",
        "beyond",
        "beyond too",
        "a table",
        "a column",
        "a model",
    ):
        with pytest.raises(InputError, match=f"{name}: no shortlist, or damaged"):
            Shortlist.load(tmp_path / name, (7, None))


@pytest.mark.parametrize(
    ("kind", "name"),
    [(np.int64, "I64"), (np.int32, "I32"), (np.float32, "F32"), (bool, "BOOL"), (np.uint8, "U8")],
)
def test_numbers_of_another_type_are_refused(tmp_path, kind, name):
    parts = {"candidates": [0, 6], "counts": [1, 0, 0, 0, 0, 0, 1], "frequent": [2]}
    for part in parts:
        tensors = {
            key: np.array(value, kind if key == part else np.uint16) for key, value in parts.items()
        }
        save_file(tensors, tmp_path / "s")
        with pytest.raises(InputError, match=f"s: tensor {part} is {name}, expected U16 or U32"):
            Shortlist.load(tmp_path / "s", (7, None))
