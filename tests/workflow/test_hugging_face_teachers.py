"""Hugging Face teachers in the workflow: a multilingual one from a folder, and one named as on the hub."""

import re

import pytest
import yaml

from tests.workflow.running import TINY, TRANSLATION, snakemake
from weebill.corpus.table import read_batches, read_columns
from weebill.files import read_json
from weebill.rehearsal.making.translators import make_m2m, make_marian
from weebill.translation.distillation.selection import best_hypothesis
from weebill.translation.loading import load_translator
from weebill.translation.search import fastest_precision
from weebill_runtime.options import SearchOptions

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FOLDER = f"birds--de-en@{COMMIT}"


@pytest.fixture
def config(tmp_path):
    """Write the smallest experiment with these teachers; the files of the hub's model are in `local_dir`."""
    make_m2m(tmp_path / "hundred")
    make_marian(tmp_path / "models/birds/de-en")
    config = yaml.safe_load(TINY.read_text())
    german = {"importer": "tatoeba", "use": "monolingual-target", "pairs": 30}
    config["corpora"] = {"tatoeba": {"importer": "tatoeba", "pairs": 60}, "german": german}
    config["teacher"] = {"hugging_face": "hundred", "language_codes": {"source": "en"}}
    config["reverse_teacher"] = {"hugging_face": "birds/de-en", "revision": COMMIT}
    config["back_translation"] = {"scores": {"reverse_model": {"cut": {"percent": 10}}}}
    config["distillation"]["shards"] = 1
    config["evaluation"]["mbr"]["by"] = "beam"
    del config["cleaning"]["language_id"]
    config |= {"local_dir": "models", "pruning": {}, "quantization": {}}
    del config["variants"], config["exports"]
    return config


@pytest.mark.workflows
def test_teachers_of_random_weights_stop_the_run(tmp_path, config):
    """No BLEU of these teachers is known, so the run measures it in both directions."""
    config["distillation"]["min_teacher_bleu"] = 1
    (tmp_path / "strict.yaml").write_text(yaml.safe_dump(config))
    target = "results/tiny/distilled/training.parquet"
    run = snakemake(
        tmp_path, tmp_path / "strict.yaml", "--cores", "1", "--keep-going", "--", target
    )
    assert run.returncode == 1
    for folder in ("hundred", f"results/tiny/hugging_face/{FOLDER}"):
        assert re.search(
            rf"weebill: {folder}: validation BLEU 0\.00 of \d+ sentences, under 1: ", run.stdout
        )
    assert not list(tmp_path.glob("results/tiny/*/*/shard-*.parquet"))


@pytest.mark.workflows
def test_folder_and_name(tmp_path, config):
    (tmp_path / "trial.yaml").write_text(yaml.safe_dump(config))
    results = tmp_path / "results/tiny"
    targets = [
        "results/tiny/distilled/training.parquet",
        "results/tiny/evaluation/translations/teacher/beam-4/float32/tatoeba_test.txt",
    ]
    run = snakemake(
        tmp_path, tmp_path / "trial.yaml", "--cores", "1", *targets, imported=TRANSLATION
    )
    assert run.returncode == 0, run.stdout
    teacher = load_translator(
        tmp_path / "hundred", languages=("en", "de"), precision=fastest_precision("cpu")
    )

    # Parallel text has n-best translations; students learn the one nearest to the reference.
    columns = ["source", "target", "hypotheses", "selected"]
    rows = [
        row
        for batch in read_batches(results / "distilled/tatoeba/shard-0.parquet")
        for row in batch.select(columns).to_pylist()
    ]
    assert len(rows) > 40
    search = {"beam": 4, "nbest": 4, "max_source_tokens": 200}
    found = teacher.nbest([row["source"] for row in rows], SearchOptions(**search))
    for row, hypotheses in zip(rows, found, strict=True):
        assert row["hypotheses"] == [hypothesis.text for hypothesis in hypotheses]
        assert row["selected"] == best_hypothesis(row["hypotheses"], row["target"])
    assert any(row["selected"] for row in rows)

    back = read_columns(results / "back_translated/german/merged.parquet", ["source", "target"])
    reverse = load_translator(results / "hugging_face" / FOLDER, precision=fastest_precision("cpu"))
    search = SearchOptions(beam=2, max_source_tokens=200)
    assert back["source"].to_pylist() == reverse.translate(back["target"].to_pylist(), search)
    assert read_json(results / "hugging_face" / FOLDER / "hub.json")["name"] == "birds/de-en"
    assert not (results / "teacher").exists() and not (results / "reverse_teacher").exists()


def test_a_code_that_the_model_does_not_know_stops_a_dry_run(tmp_path, config):
    config["teacher"]["language_codes"]["target"] = "tlh_Latn"
    (tmp_path / "trial.yaml").write_text(yaml.safe_dump(config))
    run = snakemake(tmp_path, tmp_path / "trial.yaml", "-n")
    assert run.returncode == 1
    [line] = [line for line in run.stdout.splitlines() if "language_codes" in line]
    assert "teacher.hugging_face: hundred: its tokenizer knows no language 'tlh_Latn'" in line
    assert "Traceback" not in run.stdout
