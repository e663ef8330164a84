"""Students of several seeds in the workflow: each is trained and pruned anew, and all are compared."""

import csv
import statistics

import pytest
import yaml

from tests.workflow.running import TINY, TRANSLATION, snakemake
from weebill.files import read_json, sha256_file

TABLE = "results/tiny/tables/seeds.csv"


@pytest.mark.workflows
def test_seeds_are_trained_and_compared(tmp_path):
    config = yaml.safe_load(TINY.read_text())
    config["students"] = ["demo.micro", "demo.micro~8"]
    config["pruning"] = {"random": config["pruning"]["random"]}
    config["variants"] = ["demo.micro*/random/float32"]
    config |= {"quantization": {}, "exports": {}}
    del config["shortlist"]
    (tmp_path / "seeds.yaml").write_text(yaml.safe_dump(config))
    run = snakemake(tmp_path, tmp_path / "seeds.yaml", "--cores", "1", TABLE, imported=TRANSLATION)
    assert run.returncode == 0, run.stdout
    results = tmp_path / "results/tiny"

    files = {
        sha256_file(results / "models" / student / recipe / "float32/model.safetensors")
        for student in config["students"]
        for recipe in ("unpruned", "random")
    }
    assert len(files) == 4
    again = read_json(results / "models/demo.micro~8/unpruned/float32/config.json")
    assert again["lineage"]["seed"] == 8

    [row] = csv.DictReader((tmp_path / TABLE).read_text().splitlines())
    [one] = read_json(results / "evaluation/seeds/demo.micro.json")
    assert (row["variant"], row["baseline"]) == ("demo.micro/random/float32", "unpruned")
    assert row["seeds"] == "2" and one["seeds"] == [7, 8]
    assert row["bleu"] == f"{statistics.mean(one['scores']):.2f}"
    assert not (results / "evaluation/quality/demo.micro~8.json").exists()
