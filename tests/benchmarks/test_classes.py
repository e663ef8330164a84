"""`weebill benchmark classes` with tiny models: a row and a table line for each class, and equal scores."""

import json

import pytest

from tests.metric.comet_environment import COMET, need_comet
from weebill.__main__ import main
from weebill.benchmarks import classes


@pytest.mark.workflows
def test_table(news, tmp_path, capsys):
    need_comet()
    page = tmp_path / "classes.md"
    options = ["--rounds", "1", "--shape", "tiny", "--news", str(news), "--markdown", str(page)]
    assert main(["benchmark", "classes", *options, "--comet", str(COMET.absolute()), "--json"]) == 0
    *rows, table = json.loads(capsys.readouterr().out)
    assert len(rows) == len(classes.CASES)
    for row in rows:
        assert float(row["claim"].split("at most ")[1].split()[0]) < 1e-5, row["claim"]
    assert [row["cells"][0]["text"] for row in table["rows"]] == [*classes.CASES]
    assert all(f"\n| {case} | yes | yes | " in page.read_text() for case in classes.CASES)
