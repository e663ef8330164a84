"""Each stage keeps rows that it and earlier stages did not drop, except test rows and empty rows."""

import pyarrow as pa
import pytest

from weebill.corpus.cleaning.clean import Cleaning
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.cleaning_stages import STAGES, write_stage
from weebill.corpus.table import read_columns, read_schema, write_table
from weebill.errors import InputError

PAIR = ("en", "de")
DROPPED = [
    None,
    "empty",
    "numbers",
    "bicleaner",
    "test_overlap",
    None,
    "reverse_model",
    "near_duplicate",
]


@pytest.fixture
def corpora(tmp_path, as_table):
    """Write a corpus with damage and weights, from which every stage drops rows, and one that was only cleaned."""
    pairs = [(f"s {row}", " " if by == "empty" else f"t {row}") for row, by in enumerate(DROPPED)]
    table = as_table(pairs, ["copied", *[None] * 7], DROPPED)
    weights = [None if by in ("empty", "numbers") else 0.5 for by in DROPPED]
    write_table(tmp_path / "a", table.append_column("weight", pa.array(weights, pa.float64())))
    write_table(tmp_path / "b", as_table([("other", "andere")]))
    return [tmp_path / "a", tmp_path / "b"]


@pytest.mark.parametrize(
    ("stage", "rows"),
    list(zip(STAGES, ([0, 2, 3, 5, 6, 7], [0, 3, 5, 6], [0, 5], [0, 5]), strict=True)),
)
def test_rows(tmp_path, corpora, as_table, stage, rows):
    write_table(tmp_path / "test_set", as_table([("Another sentence", "T 4!")]))
    write_stage(corpora, stage, tmp_path / "out", PAIR, [tmp_path / "test_set"])
    found = read_columns(tmp_path / "out", ["source", "target", "corpus", "row", "noise"])
    wanted = [(f"s {row}", f"t {row}", "test", row, "copied" if row == 0 else None) for row in rows]
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        *wanted,
        ("other", "andere", "test", 0, None),
    ]
    assert ("weight" in read_schema(tmp_path / "out").names) == (stage == "weights")
    if stage == "weights":
        weights = read_columns(tmp_path / "out", ["weight"])["weight"].to_pylist()
        assert weights == [0.5, 0.5, None]


def test_what_took_a_row_first_does_not_bring_back_a_test_sentence(tmp_path, as_table):
    pairs = [("A test.", "Ein Test."), ("A test.", "A test."), ("", ""), ("to learn", "zu lernen")]
    dropped = ["duplicate", "identical", "duplicate", "near_duplicate"]
    write_table(tmp_path / "a", as_table(pairs, dropped=dropped))
    write_table(tmp_path / "test_set", as_table(pairs[:1]))
    write_stage([tmp_path / "a"], "none", tmp_path / "out", PAIR, [tmp_path / "test_set"])
    assert read_columns(tmp_path / "out", ["source"])["source"].to_pylist() == ["to learn"]


@pytest.mark.parametrize(("decoded", "left"), [(True, ["other"]), (False, ["R & D", "other"])])
def test_held_out_sentences_are_prepared_as_each_corpus_was(tmp_path, as_table, decoded, left):
    write_table(tmp_path / "a", as_table([("R & D", "F & E"), ("other", "andere")]))
    write_table(tmp_path / "test_set", as_table([("R &amp; D", "F &amp; E")]))
    cleaning = Cleaning(rules=Rules(decode_entities=decoded))
    held_out = [tmp_path / "test_set"]
    write_stage([tmp_path / "a"], "none", tmp_path / "out", PAIR, held_out, [cleaning])
    assert read_columns(tmp_path / "out", ["source"])["source"].to_pylist() == left


def test_nothing_left(tmp_path, as_table):
    write_table(tmp_path / "a", as_table([("a", "b")], dropped=["numbers"]))
    write_stage([tmp_path / "a"], "none", tmp_path / "out", PAIR)
    with pytest.raises(InputError, match="the stage 'rules' leaves no pair"):
        write_stage([tmp_path / "a"], "rules", tmp_path / "out", PAIR)
