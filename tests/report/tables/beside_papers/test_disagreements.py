"""Numbers that a paper prints twice: misprints found by reading the papers are also found in their tables."""

import pytest

from weebill.report.tables.beside_papers.disagreements import differ, disagreement_notes
from weebill.report.tables.beside_papers.wmt21 import TABLES as WMT21
from weebill.report.tables.beside_papers.wngt20 import TABLES as WNGT20


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("61", "65", True),
        ("31.7", "31.70", False),
        ("30.0", "30.03", False),
        ("33.0", "32.91", True),
        ("34.6", "34.53", True),
        ("34.5", "34.54", False),
    ],
)
def test_roundings_of_one_number_agree(one, other, expected):
    assert differ(one, other) == differ(other, one) == expected


def notes(tables, name, results) -> str:
    found = [table for table in tables if f"{table.folder}/{table.name}".lstrip("/") == name]
    return " ".join(found[0].build(results).notes)


def test_the_known_misprints_of_wngt20_are_told_in_both_places(results):
    size = "MiB of tiny 61 (tables 1 and 2), 65 (table 3)"
    speed = "words a second on one core of tiny 2050 (table 2), 2220 (table 3)"
    for table in ("wngt20_table1", "wngt20_table2", "wngt20_table3"):
        assert size in notes(WNGT20, table, results)
    for table in ("speed/wngt20_table2", "speed/wngt20_table3"):
        assert speed in notes(WNGT20, table, results)
    for table in ("wngt20_table2", "speed/wngt20_table4"):  # float16 changes less than 0.1 (§6)
        told = notes(WNGT20, table, results)
        assert "BLEU on WMT19 of tiny.steady.i12 41.1 (table 2), 41.4 (table 4)" in told
        assert "BLEU on WMT19 of tiny.pushy.i6 41.4 (table 2), 41.0 (table 4)" in told
    assert "tiny.8k" not in " ".join(disagreement_notes("wngt20", 3))  # 31.7 and 31.70
    assert "micro.8k: the printed 7.0 M does not follow" in notes(WNGT20, "wngt20_table3", results)


def test_wmt21s_table_3_has_other_scores_than_its_table_1(results):
    told = notes(WMT21, "wmt21_table3", results)
    assert "BLEU on WMT20 of 12-1.base 36.7 (table 1), 37.1 (table 3)" in told
    assert "BLEU on WMT21 of 12-1.tiny 27.6 (tables 1 and 2), 28.0 (table 3)" in told
    assert disagreement_notes("wmt21", 4) == []  # seconds are in no other table
