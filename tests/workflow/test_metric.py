"""A metric experiment on a checkpoint with random weights runs to its report, with pruning, scores and times.

The training text of a distilled metric is made too, but not the metric, which unbabel-comet would train.
"""

import csv
import json

import pytest
import yaml

from tests.workflow.running import TRANSLATION, report_is_whole, snakemake
from tests.workflow.small_runs import (
    metric_distillation,
    metric_experiment,
    write_experiment,
)
from weebill.corpus.table import read_columns
from weebill.corpus.tatoeba import read_pairs
from weebill.files import content_hash
from weebill.metric.folder import load_metric
from weebill.metric.judged_set import JudgedSet
from weebill.metric.scorer import Scorer
from weebill.metric.training_table import read_segments

pytestmark = pytest.mark.workflows


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("metric")
    config = write_experiment(folder / "small.yaml", metric_experiment(folder))
    done = snakemake(folder, config, "--cores", "2", imported=TRANSLATION)
    assert done.returncode == 0, done.stdout
    return folder


def test_the_report_is_whole(run):
    results = run / "results/small"
    assert report_is_whole(results)
    page = (results / "summary.md").read_text(encoding="utf-8")
    assert "`pruned`: " in page and "fewer parameters than the reference" in page
    for name in ("cometinho_figure1", "cometinho_figure4", "cometinho_figure7"):
        assert (results / f"figures/{name}.svg").stat().st_size > 2000


def test_agreement_is_that_of_the_scorer(run):
    results = run / "results/small"
    rows = json.loads((results / "evaluation/agreement/news.json").read_text())
    assert [row["metric"] for row in rows] == ["BLEU", "chrF", "reference", "pruned", "shallow"]
    entry = {
        "table": str(run / "judged.tsv"),
        "score": "score",
        "statistic": "mqm",
        "humans": False,
    }
    judged = JudgedSet.read("news", entry)
    translations, sources, references = (
        judged.judgements[name].tolist() for name in ("mt", "src", "ref")
    )
    pruned = [results / "models" / name for name in ("pruned", "shallow")]
    for row, model in zip(rows[2:], (run / "comet", *pruned), strict=True):
        encoder = run / "moved" if model.name == "comet" else None
        scores = Scorer(load_metric(model, encoder)).score({"x": translations}, sources, references)
        assert row["tau"] == pytest.approx(judged.tau(scores["x"]), abs=0.02)  # rounding makes ties
    with (results / "tables/cometinho_table1.csv").open(encoding="utf-8") as file:
        table = {row["metric"]: row for row in csv.DictReader(file)}
    assert table["PRUNE-COMET"]["en-de_news"] == "0.219"
    assert float(table["PRUNE-COMET"]["en-de_news_ours"]) == pytest.approx(rows[3]["tau"], abs=6e-4)
    other = table["PRUNE-COMET, shallow"]
    assert float(other["en-de_news_ours"]) == pytest.approx(rows[4]["tau"], abs=6e-4)
    assert table["BLEURT"]["en-de_news_ours"] == ""


def test_robustness_is_that_of_damaged_translations(run):
    results = run / "results/small"
    rows = json.loads((results / "evaluation/robustness/news.json").read_text())
    shown = ["BLEU", "chrF", "reference", "pruned", "shallow"]
    assert list(dict.fromkeys(row["metric"] for row in rows)) == shown
    assert {row["test_set"] for row in rows} == {"news"}
    assert "word" in {row["damage"] for row in rows}
    assert all(0 < row["segments"] <= 4 and 0 <= row["noticed"] <= 1 for row in rows)
    entry = {"table": results / "judged/damaged/news.tsv", "score": "score", "statistic": "mqm"}
    damaged = JudgedSet.read("news", {**entry, "humans": True}).judgements
    scorer = Scorer(load_metric(results / "models/pruned"))
    texts = (damaged[name].tolist() for name in ("mt", "src", "ref"))
    translations, *others = texts
    scores = scorer.score({"x": translations}, *others)["x"]
    kept = json.loads((results / "evaluation/scores/news+damaged/pruned.json").read_text())
    assert kept["scores"] == pytest.approx(scores.tolist(), abs=1e-5)
    with (results / "tables/robustness.csv").open(encoding="utf-8") as file:
        table = {row["metric"]: row for row in csv.DictReader(file)}
    assert list(table) == shown


def test_what_is_pruned(run):
    sizes = {
        name: json.loads((run / f"results/small/evaluation/size/{name}.json").read_text())
        for name in ("reference", "pruned")
    }
    assert (sizes["reference"]["layers"], sizes["pruned"]["layers"]) == (3, 2)
    assert sizes["pruned"]["parameters"] < sizes["reference"]["parameters"]
    assert max(sizes["pruned"]["state_weights"]) == 1


def test_an_encoder_learns_anothers_attention(run):
    config = yaml.safe_load((run / "small.yaml").read_text("utf-8"))
    shape = {"layers": 1, "heads": 2, "intermediate": 16, "updates": 4, "warmup": 1}
    config["encoders"] |= {
        "large": {"by": "pretraining", "width": 16, **shape},
        "like": {"by": "attention-distillation", "teacher": "large", "width": 8, **shape},
    }
    config |= {"texts": ["src.txt"], "vocabulary": 120}
    write_experiment(run / "encoders.yaml", config)
    made = run / "results/small/encoders"
    target = "results/small/encoders/like"
    done = snakemake(run, run / "encoders.yaml", "--cores", "2", "--", target)
    assert done.returncode == 0, done.stdout
    record = json.loads((made / "like/pretraining.json").read_text())
    assert record["teacher"] == content_hash(made / "large") and len(record["losses"]) == 1


def test_pairs_are_translated_and_scored(run):
    """Two trained translators translate sources; each pair has the score of the reference metric."""
    config = yaml.safe_load((run / "small.yaml").read_text("utf-8"))
    config["distillation"] = metric_distillation(run)
    write_experiment(run / "distilled.yaml", config)
    tables = [f"results/small/distillation/{name}.parquet" for name in ("en-de/tuples", "training")]
    done = snakemake(run, run / "distilled.yaml", "--cores", "2", "--", *tables)
    assert done.returncode == 0, done.stdout
    tuples = read_columns(run / tables[0], ["src", "mt", "ref"]).to_pylist()
    references = dict(read_pairs(260))
    assert {row["ref"] == references[row["src"]] for row in tuples} == {True}
    assert 40 < len(tuples) <= 80  # two translators, 40 sources
    learnt = [
        row
        for name in ("training", "validation")
        for row in read_segments(run / f"results/small/distillation/{name}.parquet", True).to_dict(
            "records"
        )
    ]
    texts = ("src", "mt", "ref")
    assert sorted(tuple(row[name] for name in texts) for row in learnt) == sorted(
        tuple(row[name] for name in texts) for row in tuples
    )
    scorer = Scorer(load_metric(run / "comet", run / "moved"))
    columns = {name: [row[name] for row in learnt] for name in texts}
    expected = scorer.score({"x": columns["mt"]}, columns["src"], columns["ref"])["x"]
    found = [row["score"] for row in learnt]
    assert found == pytest.approx(expected.tolist(), abs=0.02)  # the workflow may score in bfloat16
