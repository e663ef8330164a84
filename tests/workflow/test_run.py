"""The tiny experiment run to its end: complete, idempotent, and rerun when code changes."""

import ast
import base64
import csv
import json
import os
import re
import shutil
import sys
import time

import pytest

from tests.forking import fork_workers
from tests.workflow.interruptions import kill, start
from tests.workflow.running import (
    REPOSITORY,
    TINY,
    TRANSLATION,
    become_snakemake,
    report_is_whole,
    run_snakemake,
    snakemake,
)
from weebill.__main__ import main
from weebill.commands.lineage import lineage
from weebill.configuration.checking import estimate
from weebill.configuration.zoo_file import load_zoo
from weebill.corpus.table import read_columns
from weebill.evaluation.size import translation_size
from weebill.files import read_json, sha256_file
from weebill.pruning.methods import METHODS
from weebill.workflow.code_version import PREFIX, code_of
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import Vocabulary

# Stubs of the programs that the Slurm executor calls: a job ends at once, writes its output and notes its call.
SLURM_STUBS = {
    "sbatch": """printf '%s\\n' "$@" > calls; cd results/tiny/evaluation
        echo '[]' > speed.json; echo '[]' > latency.json; echo 1""",
    "squeue": "echo '1|COMPLETED'",
    "sacct": "",  # no accounting
    "scontrol": "echo 'MinJobAge = 600 sec'",
}


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """Return the folder of a finished run of the tiny experiment."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as change:
        fork_workers(change)
        change.setattr(translation_size, "XZ_PRESET", 0)  # in a sixth of the time
        run = snakemake(folder, TINY, "--cores", "2", imported=TRANSLATION)
    assert run.returncode == 0, run.stdout
    return folder


@pytest.fixture
def finished(undisturbed, tmp_path):
    """Copy the finished run, for changes."""
    return shutil.copytree(undisturbed, tmp_path / "finished")


def test_everything_is_there(undisturbed):
    results = undisturbed / "results/tiny"
    assert report_is_whole(results)
    assert 500_000 < (results / "report.html").stat().st_size < 3_000_000
    assert (results / "provenance.html").stat().st_size > 1_000_000
    tables = [path for path in (results / "tables").rglob("*") if path.is_file()]
    assert {path.suffix for path in tables} >= {".csv", ".md", ".tex"}
    assert all(path.stat().st_size for path in tables)
    unpruned = [
        "float32",
        "int8",
        "int8-mean-of-scales",
        "int8-finetuned",
        "log4",
        "log4-finetuned",
    ]
    variants = [*(f"unpruned/{precision}" for precision in unpruned), "steady-i2/log4"]
    variants += ["random/float32", "scratch/float32"]
    for variant in variants:
        files = {path.name for path in (results / "models/demo.micro" / variant).iterdir()}
        assert files >= {"config.json", "model.safetensors", "vocab.spm", "README.md"}
        card = (results / f"models/demo.micro/{variant}/README.md").read_text(encoding="utf-8")
        assert f"# demo.micro/{variant}" in card and "CC BY 2.0 FR" in card
    vocabulary = Vocabulary(results / "vocabulary/500/vocab.spm")
    made = results / "shortlist/500/shortlist.safetensors"
    shortlist = Shortlist.load(made, vocabulary.sizes, vocabulary.sha256)
    bytes_too = set(vocabulary.byte_pieces)
    assert shortlist.candidates.shape[1] <= 10
    assert len(bytes_too) == 256 and 0 <= len(shortlist.frequent) - len(bytes_too) <= 10
    assert bytes_too <= set(shortlist.frequent.tolist())
    exported = results / "exports/demo.micro/steady-i2/log4/marian"
    assert {path.name for path in exported.iterdir()} >= {
        "model.npz",
        "vocab.yml",
        "config.yml",
        "README.md",
    }
    assert not list(results.rglob("*.work")), "work folders go when their output is finished"
    assert not list(results.rglob("*.partial*"))


@pytest.mark.workflows
def test_a_published_page_is_rendered_again_from_its_rows(finished, monkeypatch, capsys):
    run = snakemake(finished, TINY, "--cores", "1", "publish")
    assert run.returncode == 0, run.stdout
    page, folder = finished / "docs/results/tiny.md", finished / "docs/results/tiny"
    pictures = ["front.svg", "heads.svg", "sizes.svg"]
    assert sorted(path.name for path in folder.iterdir()) == sorted([*pictures, "rows.json"])
    summary, text = (
        (finished / "results/tiny/summary.md").read_text("utf-8"),
        page.read_text("utf-8"),
    )
    ours, theirs = (set(re.findall(r"^\|.*", one, re.MULTILINE)) for one in (text, summary))
    differing = {row for row in ours ^ theirs if not re.match(r"\| (\*\*all rules|pages)", row)}
    assert not differing and "(tiny/front.svg)" in text
    before = {path: path.read_bytes() for path in (page, *folder.iterdir())}
    for path in (page, *(folder / name for name in pictures)):
        path.unlink()
    shutil.rmtree(finished / "results")
    monkeypatch.chdir(finished)
    assert main(["publish"]) == 0
    assert {path: path.read_bytes() for path in (page, *folder.iterdir())} == before
    assert main(["publish", "--stale"]) == 0
    assert "docs/results/tiny.md: measured by today's code" in capsys.readouterr().out
    rows = json.loads((folder / "rows.json").read_text("utf-8"))
    assert {"train_student", "prune", "measure_speed"} <= rows["made"]["code"].keys()
    rows["made"]["code"]["prune"]["code"] = f"{PREFIX}0"
    (folder / "rows.json").write_text(json.dumps(rows), "utf-8")
    assert main(["publish", "--stale"]) == 0
    assert "docs/results/tiny.md: older than the code of prune" in capsys.readouterr().out
    assert main(["publish", "docs/results/other.md"]) == 1
    assert "other/rows.json: no such rows" in capsys.readouterr().err


def test_a_teacher_that_hardly_translates_stops_the_run(finished):
    """It stops before the first translation, although a run whose key allowed it had made all translations."""
    results = finished / "results/tiny"
    assert read_json(results / "evaluation/teacher_bleu.json") == []
    (results / "evaluation/teacher_bleu.json").unlink()
    shutil.rmtree(results / "distilled")
    text = TINY.read_text().replace("min_teacher_bleu: 0}", "min_teacher_bleu: 91.5}")
    (finished / "strict.yaml").write_text(text)
    target = "results/tiny/distilled/training.parquet"
    run = snakemake(finished, finished / "strict.yaml", "--cores", "1", "--", target)
    assert run.returncode == 1
    bleu = r"validation BLEU \d+\.\d\d, under 91\.5:"
    assert re.search(rf"weebill: results/tiny/teacher/member-0: {bleu}", run.stdout)
    assert re.search(rf"results/tiny/teacher/member-1: {bleu}", run.stdout)
    assert "or set distillation.min_teacher_bleu: 0 to go on" in run.stdout
    assert "Traceback" not in run.stdout
    assert not list(results.glob("distilled/*/shard-*.parquet"))


def test_pruned_students_are_compared_with_what_they_are_to_beat(undisturbed):
    """The log4 student is compared with its unpruned one, and the shape from scratch with the random choice."""
    results = undisturbed / "results/tiny"
    with (results / "tables/pruning.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    compared = {(row["variant"], row["baseline"]) for row in rows if row["baseline"]}
    student = "demo.micro"
    assert compared == {
        (f"{student}/steady-i2/float32", "unpruned"),
        (f"{student}/steady-i2/float32", "random"),
        (f"{student}/steady-i2/log4", "unpruned"),
        (f"{student}/random/float32", "unpruned"),
        (f"{student}/random/float32", "scratch"),
        (f"{student}/scratch/float32", "unpruned"),
    }
    shapes = [
        read_json(results / f"models/{student}/{recipe}/float32/config.json")["architecture"]
        for recipe in ("random", "scratch", "steady-i2")
    ]
    assert shapes[0] == shapes[1]
    heads = [sum(layer["heads"] for layer in shape["encoder"]) for shape in shapes]
    assert heads == [26, 26, 26]
    page = (results / "pruning.md").read_text(encoding="utf-8")
    assert "WNGT20 table 2" in page and "WMT21 table 2" in page
    for link in re.findall(r"!\[.*?\]\((.*?)\)", page):
        assert (results / link).is_file()


def test_the_report_shows_every_table_and_figure_once(undisturbed):
    """Nothing that the experiment measured is left out, and the first page shows the tables' numbers."""
    results = undisturbed / "results/tiny"
    page = (results / "report.html").read_text(encoding="utf-8")
    for path in (results / "tables").rglob("*.html"):
        table = path.read_text(encoding="utf-8").split("<tbody>")[1].split("</tbody>")[0]
        assert table in page, path
    figures = [*(results / "figures").rglob("*.json")]
    assert page.count('class="spec"') == len(figures) > 5
    with (results / "tables/speed/variants.csv").open(encoding="utf-8", newline="") as file:
        speeds = {(row["variant"], row["engine"]): row["wps_1core"] for row in csv.DictReader(file)}
    first = page.split('<section id="examples">')[0]
    assert f">{speeds['demo.micro/unpruned/float32', 'PyTorch reference']}<" in first
    assert page.count('class="example exhibit"') == 10


def test_snakemake_s_report_names_each_result_by_one_label(undisturbed):
    """The page makes a switch of two labels, which failed if a result lacked one of them."""
    page = (undisturbed / "results/tiny/provenance.html").read_text(encoding="utf-8")
    script = page.split('<script id="results">', 1)[1].split("=", 1)[1]
    shown, _ = json.JSONDecoder().raw_decode(script.lstrip())
    assert {entry["mime_type"] for entry in shown.values()} == {"text/html"}, "others open nowhere"
    names = [tuple(entry["labels"]) for entry in shown.values()]
    assert set(names) == {("result",)}


def test_the_estimate_counts_the_jobs(undisturbed):
    """Each job has a log, and TensorBoard's folder is none."""
    config, zoo = read_json(undisturbed / "results/tiny/configuration.json"), load_zoo()
    logs = (undisturbed / "results/tiny/logs").rglob("*.log")
    made = estimate(config, zoo).other_hours
    [counted] = (int(name.split()[2]) for name in made if name.startswith("starts of "))
    assert counted == pytest.approx(len([*logs]), rel=0.2)


def test_second_run_does_nothing(undisturbed):
    run = snakemake(undisturbed, TINY, "--cores", "2")
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout


def test_lineage_goes_back_to_the_sources(undisturbed):
    """The lineage leads from a table through quantized, pruned and teacher models to the corpus' own entry."""
    results = undisturbed / "results/tiny"
    found = lineage(results / "tables/variants.csv")
    assert found["sha256"] == sha256_file(results / "tables/variants.csv")
    assert (found["experiment"], found["seed"]) == ("tiny", 7)
    config = read_json(results / "configuration.json")
    [source] = found["sources"]["corpora.tatoeba"]
    assert {key: config["corpora"]["tatoeba"][key] for key in source} == source
    assert (source["importer"], source["pairs"], source["skip"]) == ("tatoeba", 1050, 20)
    assert found["files"] == {}
    seeds = {name: made["seed"] for name, made in found["models"].items() if "seed" in made}
    assert seeds["results/tiny/teacher/member-1"] == 8
    assert "results/tiny/models/demo.micro/steady-i2/log4" in found["models"]
    counts = found["texts"]["results/tiny/corpora/tatoeba/cleaned"]
    rows = read_columns(results / "corpora/tatoeba/cleaned", ["dropped_by"], kept=False)
    assert counts == {"rows": 1050, "kept": rows["dropped_by"].null_count}
    codes = {(job["rule"], f"{PREFIX}{job['code']}") for job in found["jobs"]}
    assert ("merge_distilled", code_of("distil/merge_distilled.py")) in codes
    for recipe in config["pruning"].values():
        method = METHODS[recipe["method"]].__module__
        assert ("prune", code_of("prune/prune.py", method)) in codes
    rules = {rule for rule, _ in codes}
    assert {"import_corpus", "clean_corpus", "train_teacher", "quantize", "prune"} <= rules


@pytest.mark.workflows
def test_a_rule_reruns_when_its_library_code_changes_and_not_otherwise(finished, tmp_path):
    """In a copy with new file times, a comment reruns nothing, and an edit elsewhere reruns no training."""
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


def parameters(folder, output):
    """Return the parameters that Snakemake noted for the job of an output."""
    name = base64.b64encode(f"results/tiny/evaluation/{output}".encode()).decode()
    noted = json.loads((folder / ".snakemake/metadata" / name).read_text())["params"]
    return [ast.literal_eval(value) for value in noted]


def test_speed_is_measured_with_the_search_that_is_scored(undisturbed):
    (entrants,) = [v for v in parameters(undisturbed, "speed.json") if isinstance(v, list)]
    assert len(entrants) == 12
    for variant, _, timed, _ in entrants:
        scored = parameters(undisturbed, f"translations/{variant}/tatoeba_test.txt")
        assert [timed] == [value for value in scored if isinstance(value, dict)], variant
