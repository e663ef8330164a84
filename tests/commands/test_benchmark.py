"""The benchmark command: interleaved rounds, medians, and one JSON object per claim."""

import json
import sys
import types
from pathlib import Path
from typing import Annotated

import pytest

from weebill.__main__ import main
from weebill.benchmarks import Option, Row, survey
from weebill.commands import benchmark
from weebill.errors import InputError
from weebill.evaluation.measurement import hardware
from weebill.report.rendering import to_markdown
from weebill.report.table import Cell, Column, Table
from weebill.report.table import Row as TableRow
from weebill.workflow.code_version import code_of_module

MODULE = "weebill.benchmarks.languages"


def test_a_row_compares_round_by_round():
    row = Row.of_rounds("x", [10.0, 30.0, 20.0], [10.0, 10.0, 5.0], "pairs/s", paper=1.5)
    assert (row.ours, row.other, row.ratio) == (20.0, 10.0, 2.0)
    assert (row.lowest, row.highest, row.rounds) == (1.0, 4.0, 3)
    assert "ratio 2.00 (1.00 to 4.00 in 3 rounds; the paper's 1.50)" in str(row)


def test_command(monkeypatch, capsys, tmp_path):
    row = Row.of_rounds("x", [6.0] * 3, [2.0] * 3, "pairs/s")
    asked = []

    def measure(rounds):
        asked.append({"rounds": rounds})
        return [row]

    module = types.SimpleNamespace(run=measure, OPPONENTS=("pytest",))
    monkeypatch.setattr(survey, "load", lambda name: module)
    arguments = types.SimpleNamespace(name="cleaning", options=["--rounds", "3", "--json"])
    assert benchmark.run(arguments) == 0
    assert asked == [{"rounds": 3}]
    (found,) = json.loads(capsys.readouterr().out)
    versions = found.pop("versions")
    assert {"python", "torch", "weebill"} < versions.keys()
    assert versions["pytest"] == pytest.__version__
    assert found == {
        "hardware": hardware(),
        "claim": "x",
        "ours": 6.0,
        "other": 2.0,
        "ratio": 3.0,
        "lowest": 3.0,
        "highest": 3.0,
        "paper": None,
        "unit": "pairs/s",
        "rounds": 3,
    }
    arguments.options = []
    benchmark.run(arguments)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{hardware()}; python ") and f"pytest {pytest.__version__}" in first
    assert "ratio 3.00" in second
    file = tmp_path / "page.md"
    arguments.options = ["--markdown", str(file)]
    benchmark.run(arguments)
    lines = file.read_text().splitlines()
    assert lines[0] == "# Benchmark: cleaning"
    assert lines[2].startswith(f"`weebill benchmark cleaning --markdown {file}` measured these")
    assert f"pytest {pytest.__version__}, " in lines[4] and lines[4].endswith("`; 5 rounds.")
    assert "| x | 6 | 2 | pairs/s | 3.00 | 3.00 | 3.00 |" in lines


def test_a_page_of_tables_is_rendered_again_from_its_rows(monkeypatch, tmp_path, capsys):
    columns = [*Column.texts(name="Name"), Column("bleu", "BLEU", deltas=True)]
    rows = [TableRow.of(["a|b", Cell("41.10", "-0.40", "*")], baseline=True)]
    table = Table("names", "Names and scores", "Why.", columns, rows, ("A note.",))
    module = types.SimpleNamespace(run=lambda rounds: [table])
    monkeypatch.setattr(survey, "load", lambda name: module)
    monkeypatch.chdir(tmp_path)
    page = Path("docs/results/languages.md")
    assert main(["benchmark", "languages", "--markdown", str(page)]) == 0
    text = page.read_text("utf-8")
    assert f"### Names and scores\n\n{to_markdown(table)}" in text
    assert f"`weebill benchmark languages --markdown {page}` made these tables." in text
    page.unlink()
    assert main(["publish"]) == 0
    assert page.read_text("utf-8") == text
    capsys.readouterr()
    rows_file = Path("docs/results/languages/rows.json")
    found = json.loads(rows_file.read_text("utf-8"))
    for code, told in ((None, "measured by today's code"), ("code:0", "older than the code of")):
        found["made"]["code"]["languages"]["code"] = code or code_of_module(MODULE)
        rows_file.write_text(json.dumps(found), "utf-8")
        assert main(["publish", "--stale"]) == 0
        assert f"{page}: {told}" in capsys.readouterr().out
    del found["survey"]["tables"][0]["table"]["columns"]
    rows_file.write_text(json.dumps(found), "utf-8")
    assert main(["publish"]) == 1
    assert f"{rows_file}: rows of another version" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("folder.md", "folder.md: not a plain file"),
        ("page", "--markdown page: no name of a page; it ends in .md"),
        ("folder.md/page.md/x.md", "a file stands where a folder should"),
        ("/proc/page.md", "/proc: no file can be made here"),
    ],
)
@pytest.mark.parametrize("name", ["cleaning", "all"])
def test_a_page_that_cannot_be_written_is_told_first(
    tmp_path, monkeypatch, capsys, name, page, told
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "folder.md/page.md").touch()
    module = types.SimpleNamespace(run=lambda rounds: pytest.fail("it measures"))
    monkeypatch.setattr(survey, "load", lambda name: module)
    assert main(["benchmark", name, "--markdown", page]) == 1
    assert told in capsys.readouterr().err


def test_what_was_found_before_a_failure(monkeypatch, capsys):
    def rows(rounds):
        yield Row.of_rounds("x", [6.0], [2.0], "pairs/s")
        raise InputError("the opponent has died")

    module = types.SimpleNamespace(run=rows)
    monkeypatch.setattr(survey, "load", lambda name: module)
    arguments = types.SimpleNamespace(name="cleaning", options=["--json"])
    with pytest.raises(InputError):
        benchmark.run(arguments)
    (found,) = json.loads(capsys.readouterr().out + "]")
    assert found["ratio"] == 3.0
    module.run = lambda rounds: []
    benchmark.run(arguments)
    assert json.loads(capsys.readouterr().out) == []


def test_options_of_a_benchmark_of_its_own(monkeypatch, capsys):
    asked = []

    def run(rounds: int, arch: Annotated[str, Option("a shape")] = "base"):
        asked.append((rounds, arch))
        return []

    module = types.SimpleNamespace(__doc__="What it is.", run=run)
    monkeypatch.setattr(survey, "load", lambda name: module)
    arguments = types.SimpleNamespace(name="cleaning", options=["--arch", "tiny"])
    benchmark.run(arguments)
    assert asked == [(5, "tiny")]


@pytest.mark.parametrize(
    "arguments",
    [
        ["nothing"],
        ["cleaning", "--rounds", "0"],
        ["cleaning", "--arch", "tiny"],
        ["all", "--arch", "tiny"],
    ],
)
def test_bad_requests(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["benchmark", *arguments])
    assert stop.value.code == 2


def test_all_benchmarks_and_what_was_published(tmp_path, monkeypatch, capsys):
    """A benchmark that cannot run is reported without failure; a crash fails; a slower result does not."""

    def broken(rounds):
        yield Row.of_rounds("begun", [1.0], [1.0], "ms")
        raise InputError("the opponent has died")

    def absent(rounds):
        raise InputError("no text")

    speeds, names = {"mbr": 6.0}, ["mbr", "metric"]
    mbr = lambda n: [Row.of_rounds("x", [speeds["mbr"]] * n, [2.0] * n, "pairs/s")]  # noqa: E731
    runs = {"mbr": mbr, "metric": absent, "search": broken}
    monkeypatch.setattr(survey, "load", lambda name: types.SimpleNamespace(run=runs[name]))
    monkeypatch.setitem(survey.survey.__kwdefaults__, "names", names)
    published, second = tmp_path / "published.json", tmp_path / "second.json"
    written = ["--json", str(published), "--markdown", str(tmp_path / "page.md")]
    assert main(["benchmark", "all", "--rounds", "3", *written]) == 0
    page, _, _ = (tmp_path / "page.md").read_text("utf-8").partition("\n---\n")
    assert "| x | 6 | 2 | pairs/s | 3.00 | 3.00 | 3.00 |" in page and "3 rounds." in page
    assert page.endswith("## Not measured\n\n- `metric`: no text\n")
    assert capsys.readouterr().out.splitlines()[1] == "metric: cannot run here: no text"
    written = json.loads(published.read_text())
    assert written["signature"]["hardware"] == hardware()
    assert written["not_run"] == {"metric": "no text"} and written["failed"] == {}
    found = [(row["benchmark"], row["claim"], row["ratio"]) for row in written["rows"]]
    assert found == [("mbr", "x", 3.0)]

    speeds["mbr"] = 3.0
    command = ["benchmark", "all", "--against", str(published)]
    assert main(command) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert "ratio 1.50 (1.50 to 1.50), published 3.00 (3.00 to 3.00); changed by 0.50" in last
    assert last.endswith("a loss over 5%")

    names.append("search")
    assert main([*command, "--json", str(second)]) == 1
    assert json.loads(second.read_text())["failed"] == {"search": "the opponent has died"}


def test_published_figures_that_are_none_are_refused_before_anything_runs(tmp_path, capsys):
    (tmp_path / "x.json").write_text("[]")
    assert main(["benchmark", "all", "--against", str(tmp_path / "x.json")]) == 1
    error = capsys.readouterr().err
    assert "x.json: holds no figures of benchmarks; name a file of" in error
    assert main(["benchmark", "all", "--against", str(tmp_path / "none.json")]) == 1
    assert "none.json" in capsys.readouterr().err


def test_benchmark_cleaning_measures_its_claim(monkeypatch):
    from weebill.benchmarks import cleaning

    pairs = cleaning.read_pairs(300)
    monkeypatch.setattr(cleaning, "read_pairs", lambda: pairs)
    monkeypatch.setattr(cleaning, "TATOEBA", ())
    monkeypatch.setattr(cleaning, "LID_176", cleaning.Path("absent"))
    (row,) = list(cleaning.run(1))
    assert row.unit == "pairs/s" and row.ours > 0 and row.other > 0


def test_an_opponent_that_is_not_there(tmp_path):
    from weebill.benchmarks.cleaning import opusfilter_chain

    for python, reason in (
        ("absent", "No such file"),
        (sys.executable, "it cannot run the opponent .*No module named"),
    ):
        with pytest.raises(InputError, match=reason):
            opusfilter_chain(Path(python), [("a", "b")], tmp_path, ("en", "de"), tmp_path, False)
