"""Rehearsals: every miniature has the rules of its experiment, and the smallest runs to its report."""

import os
import subprocess
import sys

import pytest
import yaml

from tests.rehearsal.miniature.test_miniature import checked, whole
from tests.workflow.running import CONFIGURATIONS, REPOSITORY, report_is_whole
from weebill.configuration.zoo_file import load_zoo
from weebill.files import read_json
from weebill.rehearsal.miniature import miniature
from weebill.rehearsal.running import compared
from weebill.report.rows import changed_code
from weebill.workflow.rules_of_run import jobs_by_rule

SNAKEFILE = REPOSITORY / "Snakefile"
MOST_JOBS = 200


@pytest.mark.workflows
@pytest.mark.parametrize("config", CONFIGURATIONS, ids=lambda path: path.stem)
def test_a_miniature_has_the_rules_of_its_experiment(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = tmp_path / "small.yaml"
    plain = checked(miniature(whole(config.stem), load_zoo()))
    small.write_text(yaml.safe_dump(plain), encoding="utf-8")
    jobs = [jobs_by_rule(one, SNAKEFILE) for one in (config, small)]
    assert compared(*jobs) == ""
    assert sum(jobs[1].values()) <= MOST_JOBS


@pytest.mark.workflows
def test_the_smallest_experiment_is_rehearsed_to_its_report(tmp_path):
    config = REPOSITORY / "config/comet.yaml"
    command = [sys.executable, "-m", "weebill", "rehearse", str(config), "--cores", "2"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        encoding="utf-8",
    )
    results = tmp_path / "results/rehearsal-comet"
    assert done.returncode == 0, done.stderr
    assert report_is_whole(results)
    assert f"all 11 rules of {config} have run" in done.stdout
    assert done.stdout.rstrip().endswith("results/rehearsal-comet/report.html")
    assert "**Rehearsed.**" in (results / "summary.md").read_text("utf-8")
    code = read_json(results / "rehearsal.json")["code"]
    assert {"import_reference", "measure_metric", "metric_tables", "rehearse"} <= code.keys()
    assert changed_code(code) == []
