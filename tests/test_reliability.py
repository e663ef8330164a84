"""docs/reliability.md is made from the committed counts, has all readers, and reports failures."""

from tests.fuzz.readers import READERS
from tests.reliability import PAGE, cuts_part, fuzz_part, kills_part, page, read_counts

RUN = {"seed": 2, "commit": "a" * 40, "date": "2026-11-27"}


def test_the_page_is_that_of_its_counts():
    counts = read_counts()
    assert PAGE.read_text("utf-8") == page(counts)
    assert counts["fuzz"]["readers"].keys() == READERS.keys()
    for row in counts["fuzz"]["readers"].values():
        assert row["tried"] >= row["accepted"] + row["refused"] + len(row["findings"]) > 0


def test_findings_are_told():
    row = {"tried": 9, "accepted": 3, "refused": 4, "findings": {"KeyError at a.py:1: 'x'": 7}}
    run = {**RUN, "minutes": 0.5, "limits": {"seconds": 30, "bytes": 6 << 30}}
    told = fuzz_part({**run, "readers": {"metric": row}})
    assert "9 files for 1 readers, 1 finding." in told
    assert "| metric | 9 | 3 | 4 | 1 |" in told
    assert "- metric, case 7: `KeyError at a.py:1: 'x'`" in told


def test_runs_that_ended_in_other_files_are_told():
    found = {**RUN, "ways": {"Ctrl-C": 3, "SIGKILL": 4}, "runs": 5, "differing_runs": 2, "files": 6}
    told = kills_part(found)
    assert "5 runs, 7 interruptions, 3 of 5 runs ended in equal files" in told
    assert "| Ctrl-C | 3 |" in told
    assert "2 of 30 cuts" in cuts_part({**RUN, "cuts": 30, "held": 2})
