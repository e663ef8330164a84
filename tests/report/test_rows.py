"""The rows of a page contain all that its readers read, and are only restored as files in one folder."""

import json
from pathlib import Path

import pytest

from tests.commands.test_lineage import record
from weebill.errors import InputError
from weebill.report.published import render
from weebill.report.rendering import to_markdown, write_table
from weebill.report.rows import NAME, changed_code, collect, collect_table, read_rows, restored
from weebill.report.table import Cell, Column, Row, Table

TABLE = Table(
    "scores",
    "All scores",
    "BLEU of two students.",
    [*Column.texts(student="Student"), Column("bleu", "BLEU", deltas=True)],
    [Row.of(["tiny", "20.10"], baseline=True), Row.of(["micro|ü", Cell("19.0", "-1.1", "~")])],
    ["One seed."],
)
SCRIPT = ["evaluate/measure_speed.py"]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results/models/a.model"
    folder.mkdir(parents=True)
    history = [{"update": 1, "bleu": 2.5}]
    (folder / "config.json").write_text(
        json.dumps({"lineage": {"course": {"history": history, "seed": 1}}, "more": 2})
    )
    (tmp_path / "results/some.json").write_text('[{"b": 1, "a": 0.1}]')
    (tmp_path / "results/some.csv").write_text("x,y\n1,ü\n", "utf-8")
    benchmarks = tmp_path / "benchmarks"
    benchmarks.mkdir()
    (benchmarks / "measure_speed.tsv").write_text("s\tmax_rss\n7.5\t-\n")
    files = {
        "qualities": ["results/some.json"],
        "head_map": [str(tmp_path / "results/some.csv")],
        "students": ["results/models/a.model"],
    }
    rules = {"measure_speed": SCRIPT, "never_ran": SCRIPT}
    return json.loads(json.dumps(collect("summary", {"seed": 1}, files, benchmarks, rules)))


def test_files_come_back_as_they_were_read(rows, tmp_path):
    place = tmp_path / "again"
    found = restored(rows["files"], place)
    [quality], [table], [student] = (found[name] for name in ("qualities", "head_map", "students"))
    assert all(path.startswith(f"{place}/") for path in (quality, table, student))
    assert json.loads(Path(quality).read_text()) == [{"b": 1, "a": 0.1}]
    assert Path(table).read_text("utf-8") == "x,y\n1,ü\n"
    course = json.loads((Path(student) / "config.json").read_text())["lineage"]["course"]
    assert course == {"history": [{"update": 1, "bleu": 2.5}]}
    assert rows["jobs"] == [["measure_speed", "", 7.5, 0.0]]


def test_only_rules_that_ran_count_and_other_code_is_seen(rows):
    code = rows["made"]["code"]
    assert [*code] == ["measure_speed"] and changed_code(code) == []
    code["measure_speed"]["code"] = "code:0"
    code["gone"] = {"script": ["evaluate/no_such_script.py"], "code": "code:1"}
    assert changed_code(code) == ["gone", "measure_speed"]


def test_a_published_table_comes_back_with_the_code_behind_it_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(TABLE, "results/tables")
    record(tmp_path, "results/quality.json", "measure_student", [], 10.0)
    record(tmp_path, "results/tables/scores.json", "tables", ["results/quality.json"], 20.0)
    record(tmp_path, "results/models/small", "prune", [], 15.0)
    rules = {name: SCRIPT for name in ("measure_student", "tables", "prune", "never_ran")}
    rows = json.loads(json.dumps(collect_table("results/tables/scores.json", rules)))
    assert rows["made"]["code"].keys() == {"measure_student", "tables"}
    assert changed_code(rows["made"]["code"]) == []
    page = tmp_path / "docs/results/news/speed/scores.md"
    assert render(rows, page) == [page]
    head, found, footer = page.read_text("utf-8").partition(to_markdown(TABLE))
    assert (head, found) == ("# All scores\n\n", to_markdown(TABLE))
    assert f"published on {rows['made']['date']}" in footer
    with pytest.raises(InputError, match=r"speed/scores/rows\.json: rows of another version"):
        render({**rows, "table": {**rows["table"], "columns": []}}, page)


def test_a_path_that_leads_elsewhere_is_refused(rows, tmp_path):
    rows["files"]["qualities"] = {"results/../../elsewhere.json": []}
    with pytest.raises(InputError, match=r"elsewhere\.json, a path that leads elsewhere"):
        restored(rows["files"], tmp_path / "again")
    assert not (tmp_path / "elsewhere.json").exists()


@pytest.mark.parametrize("found", [{}, [], 3, {"page": "summary"}, {"page": "summary", "made": {}}])
def test_a_file_that_holds_no_rows_is_refused(tmp_path, found):
    page = tmp_path / "news.md"
    assert read_rows(page) is None
    page.with_suffix("").mkdir()
    (tmp_path / "news" / NAME).write_text(json.dumps(found))
    with pytest.raises(
        InputError, match=r"news/rows\.json: not the rows of a page; publish it again"
    ):
        read_rows(page)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"config": {"kind": "poetry"}}, "rows of another version \\(KeyError: 'poetry'\\)"),
        ({"config": {"kind": "translation"}}, "no page 'summary' can be made of these rows"),
    ],
)
def test_rows_that_make_no_page_are_refused_by_the_name_of_their_file(
    rows, tmp_path, changed, told
):
    with pytest.raises(InputError, match=rf"news/rows\.json: {told}"):
        render({**rows, **changed}, tmp_path / "news.md")
    assert not (tmp_path / "news.md").exists()
