"""The finished tiny experiment, run again after changes, a kill and a fault, on a cluster, and for its page."""

import json
import os
import re
import shutil
import sys
import time

import pytest

from tests.workflow.interruptions import kill, start
from tests.workflow.running import (
    REPOSITORY,
    TINY,
    become_snakemake,
    report_is_whole,
    run_snakemake,
    snakemake,
)
from weebill.__main__ import main
from weebill.files import read_json
from weebill.workflow.code_version import PREFIX
from weebill.workflow.lineage import provenance

# Stubs of the programs that the Slurm executor calls: a job records its call, writes its output and ends at once.
SLURM_STUBS = {
    "sbatch": """printf '%s\\n' "$@" > calls; cd results/tiny/evaluation
        echo '[]' > speed.json; echo '[]' > latency.json; echo 1""",
    "squeue": "echo '1|COMPLETED'",
    "sacct": "",  # no accounting
    "scontrol": "echo 'MinJobAge = 600 sec'",
}


@pytest.mark.workflows
def test_a_run_leaves_the_fingerprints_that_its_jobs_used(finished):
    code = read_json(finished / "results/tiny/code.json")
    jobs = provenance(finished / "results/tiny/summary.md").jobs
    used = {job.rule: job.code for job in jobs if job.code and job.rule != "prune"}
    assert {"import_corpus", "train_student", "speed_tables", "pages"} <= used.keys()
    assert used == {rule: code[rule]["code"].removeprefix(PREFIX) for rule in used}
    assert "prune" in code  # whose fingerprint is of all methods of the experiment


@pytest.mark.workflows
def test_a_published_page_is_rendered_again_from_its_rows(finished, monkeypatch, capsys):
    tables = ["docs/results/tiny/cleaning.md", "docs/results/tiny/speed/latency.md"]
    run = snakemake(finished, TINY, "--cores", "1", "publish", *tables)
    assert run.returncode == 0, run.stdout
    page, folder = finished / "docs/results/tiny.md", finished / "docs/results/tiny"
    run = snakemake(finished, TINY, "--dry-run", "docs/results/tiny-pruning.md")
    assert run.returncode == 0, run.stdout  # no page of another experiment
    pictures = ["front.svg", "heads.svg", "sizes.svg"]
    of_tables = ["cleaning", "cleaning.md", "speed"]
    names = sorted([*pictures, "rows.json", *of_tables])
    assert sorted(path.name for path in folder.iterdir()) == names
    code = read_json(folder / "cleaning/rows.json")["made"]["code"].keys()
    assert {"clean_corpus", "cleaning_report"} <= code and not code & {"train_student", "tables"}
    code = read_json(folder / "speed/latency/rows.json")["made"]["code"].keys()
    assert {"train_student", "measure_speed", "speed_tables"} <= code
    summary, text = (
        (finished / "results/tiny/summary.md").read_text("utf-8"),
        page.read_text("utf-8"),
    )
    ours, theirs = (set(re.findall(r"^\|.*", one, re.MULTILINE)) for one in (text, summary))
    differing = {row for row in ours ^ theirs if not re.match(r"\| (\*\*all rules|pages)", row)}
    assert not differing and "(tiny/front.svg)" in text
    files = [page, *(path for path in folder.rglob("*") if path.is_file())]
    before = {path: path.read_bytes() for path in files}
    for path in files:
        if path.name != "rows.json":
            path.unlink()
    shutil.rmtree(finished / "results")
    monkeypatch.chdir(finished)
    assert main(["publish"]) == 0
    assert {path: path.read_bytes() for path in files} == before
    assert main(["publish", "--stale"]) == 0
    told = capsys.readouterr().out
    for file in ("docs/results/tiny.md", *tables):
        assert f"{file}: measured by today's code" in told
    rows = json.loads((folder / "rows.json").read_text("utf-8"))
    assert {"train_student", "prune", "measure_speed"} <= rows["made"]["code"].keys()
    rows["made"]["code"]["prune"]["code"] = f"{PREFIX}0"
    (folder / "rows.json").write_text(json.dumps(rows), "utf-8")
    assert main(["publish", "--stale"]) == 0
    assert "docs/results/tiny.md: older than the code of prune" in capsys.readouterr().out
    assert main(["publish", "docs/results/other.md"]) == 1
    assert "other/rows.json: no such rows" in capsys.readouterr().err


@pytest.mark.workflows
def test_a_rule_reruns_when_its_library_code_changes_and_not_otherwise(finished, tmp_path):
    """A new comment reruns nothing, even with new file times; an edit elsewhere reruns no training."""
    project = tmp_path / "project"
    now = time.time()

    def copy(source, target):
        shutil.copyfile(source, target)
        os.utime(target, (now - 60, now - 60))  # long enough ago for `read_project` to trust

    ignored = shutil.ignore_patterns(".*", "results", "node_modules", "docs")
    shutil.copytree(REPOSITORY, project, ignore=ignored, copy_function=copy)

    def become(output, *arguments):
        for name in [name for name in sys.modules if f"{name}.".startswith("weebill.")]:
            del sys.modules[name]
        sys.path.insert(0, str(project))
        become_snakemake(output, *arguments)

    def rerun():
        command = ["--snakefile", str(project / "Snakefile"), "--directory", str(finished)]
        command += ["--configfile", str(TINY), "--dry-run", "--quiet", "rules"]
        run = run_snakemake(*command, become=become)
        assert run.returncode == 0, run.stdout
        rules = set(re.findall(r"^(\w+) +\d+$", run.stdout, re.MULTILINE))
        return rules - {"total", "all"}

    def edit(file, text):
        with (project / "weebill" / file).open("a") as source:
            source.write(text)

    edit("corpus/cleaning/rules.py", "# a remark\n")
    edit("errors.py", "EDITED = True\n")
    assert rerun() == set()
    edit("evaluation/quality/translation_quality.py", "EDITED = True\n")
    measured = rerun()
    assert {"measure_student", "tables"} <= measured
    assert not measured & {"clean_corpus", "train_teacher", "train_student", "prune", "quantize"}
    edit("pruning/late_reset.py", "EDITED = True\n")
    pruned = rerun()
    assert {"prune", "translate_test_set"} <= pruned
    assert not pruned & {"clean_corpus", "train_teacher", "translate_shard", "train_student"}
    script = project / "workflow_scripts/corpus/clean_corpus.py"
    script.write_text(f"{script.read_text()}EDITED = True\n")
    assert {"clean_corpus", "train_teacher"} <= rerun()


@pytest.mark.workflows
def test_a_report_killed_while_it_is_made_is_made_again(finished):
    results = finished / "results/tiny"
    log = results / "logs/provenance.log"
    (results / "provenance.html").unlink()
    log.unlink(missing_ok=True)
    process = start(finished, TINY, "--cores", "1")
    while process.exitcode is None and not (log.exists() and "Creating report" in log.read_text()):
        time.sleep(0.05)
    kill(process)
    assert not (results / "provenance.html").exists(), (finished / "killed.log").read_text()
    left = results / "corpora/english/imported"  # as if it was killed before that was removed
    left.mkdir()
    for path in (left / ".snakemake_timestamp", left):
        path.touch()
        os.utime(path, (0, 0))
    run = snakemake(finished, TINY, "--cores", "1")
    assert run.returncode == 0, run.stdout
    assert not left.exists()
    assert report_is_whole(results) and report_is_whole(results, "provenance.html")
    assert f"Report: {results.relative_to(finished)}/report.html" in run.stdout


@pytest.mark.workflows
def test_a_report_that_cannot_be_made_fails_the_run(finished):
    results = finished / "results/tiny"
    (results / "provenance.html").unlink()
    (results / "provenance.partial.html").mkdir()  # Snakemake writes its report there
    run = snakemake(finished, TINY, "--cores", "1")
    assert run.returncode == 1, run.stdout
    (line,) = [line for line in run.stdout.splitlines() if line.startswith("weebill: ")]
    assert "results/tiny/provenance.html: could not be made" in line
    assert "see why in results/tiny/logs/provenance.log" in line
    assert "provenance.partial.html" in (results / "logs/provenance.log").read_text()


@pytest.mark.workflows
def test_slurm_measures_speed_on_a_node(finished, tmp_path, monkeypatch):
    for name, script in SLURM_STUBS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    profile = ["--workflow-profile", str(REPOSITORY / "profiles/slurm")]  # and no --cores
    quickly = ["--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "1"]
    target = ["--forcerun", "measure_speed", "--", "results/tiny/evaluation/speed.json"]
    run = snakemake(finished, TINY, *profile, *quickly, *target)
    assert run.returncode == 0, run.stdout
    calls = (finished / "calls").read_text().splitlines()
    assert "rule_measure_speed" in calls
    assert "--cpus-per-task=16" in calls
