"""Forward, backward and backward-forward text in the workflow, and students trained on part of it."""

import csv

import pytest
import yaml

from tests.workflow.running import TINY, TRANSLATION, snakemake
from weebill.corpus.table import count_rows, read_columns, read_schema

TABLE = "results/tiny/tables/training_texts.csv"


@pytest.fixture
def config(tmp_path):
    """Write the smallest experiment with all kinds of corpora, a reverse teacher that also scores, and two texts."""
    config = yaml.safe_load(TINY.read_text())
    config["corpora"]["tatoeba"]["pairs"] = 400
    config["corpora"]["german"] = {
        "importer": "tatoeba",
        "use": "monolingual-target",
        "pairs": 150,
    }
    speaks = {**config["teacher"]["training"], "updates": 80, "warmup": 10, "validate_every": 80}
    config["teacher"] |= {"members": 1, "training": speaks, "back_translated": True}
    config["reverse_teacher"] = {
        "architecture": "demo.micro",
        "members": 2,
        "training": {**speaks, "updates": 90, "validate_every": 90},
    }
    config["back_translation"] = {
        "scores": {"reverse_model": {"cut": {"percent": 10}, "weight_scale": 0}}
    }
    config["distillation"]["training_texts"] = {
        "all": ["parallel", "forward", "backward", "backward-forward"],
        "parallel": ["parallel"],
    }
    config["students"] = ["demo.micro", "demo.micro@parallel"]
    config["training"] |= {"updates": 5, "warmup": 2, "validate_every": 5}
    config |= {"pruning": {}, "quantization": {}, "variants": ["*/unpruned/float32"]}
    del config["exports"]
    (tmp_path / "texts.yaml").write_text(yaml.safe_dump(config))
    return tmp_path / "texts.yaml"


def pairs(path):
    table = read_columns(path, ["source", "target"])
    return list(zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True))


@pytest.mark.workflows
def test_kinds_of_text_and_their_students(tmp_path, config):
    run = snakemake(tmp_path, config, "--cores", "1", TABLE, imported=TRANSLATION)
    assert run.returncode == 0, run.stdout
    results = tmp_path / "results/tiny"

    german = read_columns(results / "corpora/german/cleaned", ["source", "target"])
    assert german["source"].null_count == len(german) > 100
    backward = pairs(results / "back_translated/german/selected.parquet")
    assert {target for _, target in backward} <= set(german["target"].to_pylist())
    assert all(source for source, _ in backward)
    merged = count_rows(results / "back_translated/german/merged.parquet")
    assert len(backward) == merged - merged // 10
    forward_again = pairs(results / "distilled/german/merged.parquet")
    sources = [source for source, _ in backward]
    left = iter(sources)
    assert all(source in left for source, _ in forward_again), "other rows, or another order"

    kinds = {
        "parallel": pairs(results / "distilled/tatoeba/merged.parquet"),
        "forward": pairs(results / "distilled/english/merged.parquet"),
        "backward": backward,
        "backward_forward": forward_again,
    }
    everything = [pair for kind in kinds.values() for pair in kind]
    assert pairs(results / "distilled/training.parquet") == everything
    assert pairs(results / "distilled/training@parallel.parquet") == kinds["parallel"]
    assert "weight" not in read_schema(results / "distilled/training.parquet").names

    rows = list(csv.DictReader((tmp_path / TABLE).read_text().splitlines()))
    assert [(row["student"], row["text"]) for row in rows] == [
        ("demo.micro", "all"),
        ("demo.micro", "parallel"),
    ]
    assert {kind: rows[0][kind] for kind in kinds} == {k: str(len(p)) for k, p in kinds.items()}
    assert [rows[1][kind] for kind in kinds] == [str(len(kinds["parallel"])), "", "", ""]

    # The same reverse teacher, with two members, translates and scores.
    assert not (results / "scoring/reverse_model").exists()
    assert {path.name for path in (results / "reverse_teacher").iterdir()} == {
        "member-0",
        "member-1",
    }
