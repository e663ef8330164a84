"""`weebill publish --stale` tells of every page and record, also in folders of folders, if its code has changed."""

import pytest

from weebill.__main__ import main
from weebill.files import write_json, write_text
from weebill.report.rows import code_of_modules, code_of_rules
from weebill.workflow.code_version import code_of_all

COMMIT = "abcdef0123456789"
CODE = {
    **code_of_rules({"measure_speed": ["evaluate/measure_speed.py"]}),
    **code_of_modules(rehearse="weebill.rehearsal.preparing"),
    "weebill": {"code": code_of_all()},
}
OLD = {name: {**one, "code": "code:0"} for name, one in CODE.items()}
MADE = {"commit": COMMIT, "date": "2026-11-29", "code": CODE}
TODAY = "measured by today's code (commit abcdef012345, 2026-11-29)"


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "docs/results"


def told(capsys) -> dict[str, str]:
    assert main(["publish", "--stale"]) == 0
    lines = (line.partition(": ") for line in capsys.readouterr().out.splitlines())
    return {file.removeprefix("docs/results/"): text for file, _, text in lines}


def test_pages_are_told_with_and_without_rows(results, capsys):
    for page in ("whole", "noise/with", "firefox/speed/old", "firefox/speed/without"):
        write_text(results / f"{page}.md", "# Page\n")
    rows = {"page": "table", "made": MADE, "table": {}}
    for page in ("noise/with", "gone/page"):
        write_json(results / page / "rows.json", rows)
    old = {
        **rows,
        "made": {**MADE, "code": OLD | {"gone": {"script": ["no.py"], "code": "code:1"}}},
    }
    write_json(results / "firefox/speed/old/rows.json", old)
    assert told(capsys) == {
        "firefox/speed/old.md": "older than the code of gone, measure_speed, rehearse, weebill "
        "(commit abcdef012345, 2026-11-29)",
        "firefox/speed/without.md": "has no rows; only a run makes it anew",
        "gone/page.md": TODAY,
        "noise/with.md": TODAY,
        "whole.md": "has no rows; only a run makes it anew",
    }


def test_records_are_told_by_their_own_fingerprints(results, capsys):
    write_text(results / "page.md", "# Page\n")
    write_json(results / "rehearsals/new.json", {**MADE, "minutes": 1})
    write_json(
        results / "rehearsals/changed.json", {**MADE, "code": CODE | {"prune": OLD["weebill"]}}
    )
    write_json(results / "rehearsals/before.json", {"commit": COMMIT, "date": "2026-11-27"})
    write_json(
        results / "benchmarks.json", {"signature": {"commit": None, "code": CODE}, "rows": []}
    )
    write_json(results / "list.json", [1])
    assert told(capsys) == {
        "page.md": "has no rows; only a run makes it anew",
        "benchmarks.json": "measured by today's code (commit unknown)",
        "list.json": "has no fingerprint of its code; only a run makes it anew",
        "rehearsals/before.json": "has no fingerprint of its code; only a run makes it anew",
        "rehearsals/changed.json": "older than the code of prune (commit abcdef012345, 2026-11-29)",
        "rehearsals/new.json": TODAY,
    }


def test_only_pages_with_rows_are_rendered(results, capsys):
    write_text(results / "old/page.md", "old\n")
    assert main(["publish"]) == 0 and capsys.readouterr().out == ""
    assert (results / "old/page.md").read_text() == "old\n"
    assert main(["publish", "docs/results/old/page.md"]) == 1
    assert "old/page/rows.json: no such rows; run the experiment" in capsys.readouterr().err
