"""The tiny experiment run to its end: complete and idempotent."""

import ast
import base64
import csv
import json
import re
import shutil

import pytest

from tests.workflow.running import (
    TINY,
    report_is_whole,
    snakemake,
)
from weebill.commands.lineage import lineage
from weebill.configuration.checking import estimate
from weebill.configuration.zoo_file import load_zoo
from weebill.corpus.table import read_columns
from weebill.files import read_json, sha256_file
from weebill.pruning.methods import METHODS
from weebill.workflow.code_version import PREFIX, code_of
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import Vocabulary


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


def test_a_teacher_that_hardly_translates_stops_the_run(finished):
    """The run stops before the first translation, although an earlier run that allowed this teacher had finished."""
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
    """For example, log4 is compared with the unpruned student, and random pruning with training from scratch."""
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
    """The report shows all tables, the figures that have data, and on its first page the tables' numbers."""
    results = undisturbed / "results/tiny"
    page = (results / "report.html").read_text(encoding="utf-8")
    for path in (results / "tables").rglob("*.html"):
        table = path.read_text(encoding="utf-8").split("<tbody>")[1].split("</tbody>")[0]
        assert table in page, path
    figures = [path.read_text("utf-8") for path in (results / "figures").rglob("*.json")]
    with_data = [figure for figure in figures if "none in this experiment" not in figure]
    assert page.count('class="spec"') == len(with_data) > 5
    with (results / "tables/speed/variants.csv").open(encoding="utf-8", newline="") as file:
        speeds = {(row["variant"], row["engine"]): row["wps_1core"] for row in csv.DictReader(file)}
    first = page.split('<section id="examples">')[0]
    assert f">{speeds['demo.micro/unpruned/float32', 'PyTorch reference']}<" in first
    assert page.count('class="example exhibit"') == 10


def test_snakemake_s_report_names_each_result_by_one_label(undisturbed):
    """For two labels the page makes a switch, which failed if a result lacked one of the labels."""
    page = (undisturbed / "results/tiny/provenance.html").read_text(encoding="utf-8")
    script = page.split('<script id="results">', 1)[1].split("=", 1)[1]
    shown, _ = json.JSONDecoder().raw_decode(script.lstrip())
    assert {entry["mime_type"] for entry in shown.values()} == {"text/html"}, "others open nowhere"
    names = [tuple(entry["labels"]) for entry in shown.values()]
    assert set(names) == {("result",)}


def test_the_estimate_counts_the_jobs(undisturbed):
    """Each job has a log file; TensorBoard's folder does not count."""
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
    """The lineage leads from a table through quantized, pruned and teacher models to the entry of the corpus."""
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


def parameters(folder, output):
    """Return the parameters that Snakemake recorded for the job of an output."""
    name = base64.b64encode(f"results/tiny/evaluation/{output}".encode()).decode()
    noted = json.loads((folder / ".snakemake/metadata" / name).read_text())["params"]
    return [ast.literal_eval(value) for value in noted]


def test_speed_is_measured_with_the_search_that_is_scored(undisturbed):
    (entrants,) = [v for v in parameters(undisturbed, "speed.json") if isinstance(v, list)]
    assert len(entrants) == 12
    for variant, _, timed, _ in entrants:
        scored = parameters(undisturbed, f"translations/{variant}/tatoeba_test.txt")
        assert [timed] == [value for value in scored if isinstance(value, dict)], variant
