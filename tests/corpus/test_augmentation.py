"""Changed copies of training rows: allowed changes of each kind, their number, and independence of other rows."""

import pyarrow as pa
import pytest

from weebill.corpus.augmentation import augment_table
from weebill.corpus.robustness import KINDS, Augmentation
from weebill.corpus.table import AUGMENTED_BY, read_columns, write_table

LANGUAGES = {"source": "en", "target": "de"}
ALL = Augmentation(0.5, 0.5, 0.5, 0.5, 0.5)


def pair(number):
    return f"the dog sees house number {number} .", f"der Hund sieht Haus Nummer {number} ."


def table_of(rows, corpora=("news",)):
    """Return a table of numbered rows; the first half is from the first corpus."""
    names = [corpora[place * len(corpora) // len(rows)] for place in range(len(rows))]
    sources, targets = zip(*map(pair, rows), strict=True)
    weights = [None if row % 3 else row / 10 for row in rows]
    return pa.table(
        {"source": sources, "target": targets, "corpus": names, "row": rows, "weight": weights}
    )


@pytest.fixture
def augmented(tmp_path):
    """Return a function from (table, augmentation, seed) to the written rows and the counts."""

    def run(table, augmentation=ALL, seed=1):
        write_table(tmp_path / "text.parquet", table)
        counts = augment_table(
            tmp_path / "text.parquet", tmp_path / "out.parquet", augmentation, LANGUAGES, seed
        )
        names = ["source", "target", "corpus", "row", "weight", AUGMENTED_BY]
        return read_columns(tmp_path / "out.parquet", names).to_pylist(), counts

    return run


def test_rows_stay_and_copies_follow(augmented):
    table = table_of(range(40))
    rows, counts = augmented(table)
    assert [
        {k: v for k, v in row.items() if k != AUGMENTED_BY} for row in rows[:40]
    ] == table.to_pylist()
    assert all(row[AUGMENTED_BY] is None for row in rows[:40])
    copies = rows[40:]
    assert {kind: sum(row[AUGMENTED_BY] == kind for row in copies) for kind in KINDS} == counts
    assert all(counts.values())
    for row in copies:
        source, target = pair(row["row"])
        kind = row[AUGMENTED_BY]
        if kind == "upper_case":
            assert (row["source"], row["target"]) == (source.upper(), target.upper())
        elif kind == "title_case":
            assert row["source"] == f"The Dog Sees House Number {row['row']} ."
        elif kind == "typos":
            assert row["source"] != source and row["target"] == target
        elif kind == "merged":
            following = pair(row["row"] + 1)
            assert (row["source"], row["target"]) == (
                f"{source} {following[0]}",
                f"{target} {following[1]}",
            )
            first, second = (
                1.0 if number % 3 else number / 10 for number in (row["row"], row["row"] + 1)
            )
            assert row["weight"] == pytest.approx((first + second) / 2)


def test_shares_are_kept(augmented):
    shares = Augmentation(upper_case=0.3, title_case=0.1, typos=0.02, placeholders=1.0)
    _, counts = augmented(table_of(range(4000)), shares)
    assert counts["merged"] == 0 and counts["placeholders"] == 4000
    for kind in ("upper_case", "title_case", "typos"):
        share = getattr(shares, kind)
        deviation = (4000 * share * (1 - share)) ** 0.5
        assert abs(counts[kind] - 4000 * share) < 4 * deviation, kind


def test_a_row_is_changed_alike_wherever_it_stands(augmented):
    def copies(rows):
        found = augmented(table_of(rows))[0][len(rows) :]
        return {(row[AUGMENTED_BY], row["row"]): row for row in found}

    whole, part = copies(range(60)), copies(range(20, 50))
    inside = {key: row for key, row in whole.items() if 20 <= row["row"] < 49}
    assert inside == {key: row for key, row in part.items() if row["row"] < 49}
    assert augmented(table_of(range(60)))[0] == augmented(table_of(range(60)))[0]
    assert augmented(table_of(range(60)), seed=2)[0] != augmented(table_of(range(60)))[0]


def test_batches_of_the_reader_change_nothing(augmented, monkeypatch):
    from weebill.corpus import augmentation, table

    expected = augmented(table_of(range(50)))
    monkeypatch.setattr(
        augmentation, "read_batches", lambda path, names: table.read_batches(path, names, rows=7)
    )
    assert augmented(table_of(range(50))) == expected


def test_only_neighbours_of_one_corpus_are_merged_and_none_too_long(augmented):
    every = Augmentation(merged=1.0)
    rows, _ = augmented(table_of(range(10), ["news", "web"]), every)
    assert [row["row"] for row in rows[10:]] == [0, 1, 2, 3, 5, 6, 7, 8]
    assert augmented(table_of(range(10)), Augmentation(merged=1.0, max_merged_words=13))[1] == dict(
        zip(KINDS, [0] * 5, strict=True)
    )
