"""The record of a rehearsal has its rules and the gaps of its tables; the page is made from the records."""

from tests.workflow.running import REPOSITORY
from weebill.files import read_json, write_json
from weebill.rehearsal.record import FOLDER, PAGE, page, record
from weebill.report.rows import CODE, changed_code, code_of_rules

TABLES = {
    "tables/one.csv": "model,ours,size_ours,size_paper\na,x,1,2\nb,,,3\n",
    "tables/speed/two.csv": "model,speed_ours,size_ours\na,,4\n",
    "tables/own.csv": "model,size\na,1\n",
}


def test_a_record_counts_rules_rows_and_columns(tmp_path):
    files = {**TABLES, "figures/speed/front.svg": "<svg/>", "report.html": "<html></html>"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    write_json(tmp_path / CODE, code_of_rules({name: ["prune/prune.py"] for name in ("a", "b")}))
    found = record(tmp_path / "x.yaml", tmp_path, [{"a": 30, "b": 1}, {"a": 2}], 90)
    assert found["rules"] == {"a": [30, 2], "b": [1, 0]}
    assert found["code"].keys() == {"a", "rehearse"} and not changed_code(found["code"])
    assert found["tables"] == {
        "one": {"rows": 2, "ours": 1, "columns": 1, "empty": []},
        "speed/two": {"rows": 1, "ours": 1, "columns": 2, "empty": ["speed_ours"]},
    }
    assert (found["minutes"], found["figures"], found["report_bytes"]) == (1.5, ["front"], 13)
    told = page([found])
    assert "| 2 | 1 | 31 | 2 | 1.5 | 2 | 2 of 3 | 1 |" in told
    assert "| speed/two | 1 | 1 | `speed_ours` |" in told and "| `b` | 1 | 0 |" in told


def test_the_page_is_that_of_the_records():
    records = [read_json(path) for path in sorted((REPOSITORY / FOLDER).glob("*.json"))]
    if records:
        assert (REPOSITORY / PAGE).read_text("utf-8") == page(records)
        for one in records:
            assert all(whole and small for whole, small in one["rules"].values())
