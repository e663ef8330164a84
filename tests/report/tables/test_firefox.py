"""The table of a published student and ours: sizes, speeds, scores, and unmeasured values."""

import copy

from tests.report.conftest import read
from weebill.report.results import Results
from weebill.report.tables.firefox import firefox_table

SCORE = {"metric": "BLEU", "score": 30.0, "low": 29.0, "high": 31.0, "difference": -1.25}
SCORE |= {"difference_low": -2.0, "difference_high": -0.5, "p_value": 0.01, "signature": "s"}
ENGINE = {"words_per_second": 1000, "slowest": 900, "fastest": 1100, "scores": [SCORE, SCORE]}
PUBLISHED = {
    "name": "published",
    "bytes": {"model": 3 << 20, "vocabulary": 1 << 20, "gzip": 2 << 20},
    "tags": {"lines": 10, "kept": 10, "same_text": 10, "same_page": 10},
    "engines": {"bergamot": ENGINE, "Weebill": ENGINE},
}
EVEN = copy.deepcopy(PUBLISHED) | {"name": "tiny/even/int8"}
EVEN["bytes"]["model"] = 1 << 20
EVEN["engines"]["bergamot"] = {**ENGINE, "words_per_second": 2500}
EVEN["tags"] = {"lines": 10, "kept": 9, "same_text": 4, "same_page": 3}
UNEVEN = {"name": "tiny/uneven/int8", "refusal": "no such shape", "engines": {"Weebill": ENGINE}}
ALIGNED = [
    {"variant": name, "lines": 1500, "pieces": 200, "equal": equal}
    for name, equal in (("tiny/even/int8", 190), ("tiny/uneven/int8", 194))
]


def table(rows):
    measured = {"rows": rows, "hardware": "a processor", "versions": {"weebill": "1"}}
    return firefox_table(Results({}, firefox=[measured], alignments=ALIGNED))


def test_students_are_compared_in_each_engine():
    found = table([PUBLISHED, EVEN, UNEVEN])
    rows = {(row["student"], row["engine"]): row for row in read(found)}
    assert len(rows) == 5
    even = rows["tiny/even/int8", "bergamot"]
    assert (even["mib"], even["gzip_mib"]) == ("2.00", "2.00")
    assert (even["words_per_second"], even["words_per_second_delta"]) == ("2500", "x2.50")
    assert rows["tiny/even/int8", "Weebill"]["words_per_second_delta"] == "x1.00"
    ends = ("bleu_difference", "bleu_low", "bleu_high")
    assert [even[key] for key in ends] == ["-1.25", "-2.00", "-0.50"]
    assert rows["published", "bergamot"]["bleu_difference"] == ""
    assert (even["alignments"], even["tags"], even["places"]) == ("95.0", "90.0", "75.0")
    uneven = rows["tiny/uneven/int8", "Weebill"]
    assert (uneven["mib"], uneven["alignments"], uneven["tags"]) == ("", "97.0", "")
    assert any(
        note.startswith("Our engine alone") and "no such shape" in note for note in found.notes
    )


def test_without_bergamot_it_says_so():
    rows = copy.deepcopy([PUBLISHED, EVEN])
    for row in rows:
        del row["engines"]["bergamot"], row["tags"]
    found = table(rows)
    assert [row["words_per_second"] for row in read(found) if row["engine"] == "bergamot"] == [
        "not measured"
    ] * 2
    assert "make opponents" in found.notes[0]
