"""Scores in the workflow: models of every kind score corpora and distilled text."""

import csv

import pytest
import yaml

from tests.workflow.running import TINY, TRANSLATION, snakemake
from weebill.corpus.scores.language_model import _program
from weebill.corpus.table import count_rows, read_columns, read_schema
from weebill.errors import InputError

pytest.importorskip("kenlm", reason="the module kenlm is not here; run `make setup`")
REPORT = "results/tiny/tables/cleaning.csv"
FILTERS = "results/tiny/tables/filters.csv"
TRAINING = "results/tiny/distilled/training.parquet"


@pytest.fixture
def config(tmp_path):
    """Write the smallest experiment with every score, for cleaning and distillation; one corpus overrides a cut."""
    try:
        _program("lmplz")
    except InputError as error:
        pytest.skip(str(error))
    config = yaml.safe_load(TINY.read_text())
    config["corpora"]["tatoeba"]["pairs"] = 400
    config["corpora"]["english"] |= {
        "cleaning": {"scores": {"language_model_source": {"cut": {"best": 90}}}},
        "distillation": {"scores": {"reverse_model": {"cut": {}}}},
    }
    config["cleaning"]["scores"] = {
        "language_model_source": {"cut": {"percent": 5}},
        "language_model_target": {"cut": {"percent": 2.5}},
        "lexical_translation": {"cut": {"percent": 1}},
        "combined": {"cut": {"percent": 1}},
    }
    config["distillation"] |= {
        "scores": {"language_model_target": {}, "reverse_model": {"cut": {"percent": 10}}},
    }
    training = {**config["training"], "updates": 5, "warmup": 2, "validate_every": 5}
    config["scoring"] = {
        "language_model": {"order": 3, "memory_mb": 100},
        "lexical_translation": {"pairs": 300},
        "reverse_model": {"architecture": "demo.micro", "training": training},
    }
    more = {"updates": 60, "validate_every": 60}  # enough for some output
    config["teacher"] |= {"members": 1, "training": config["teacher"]["training"] | more}
    config["evaluation"]["labelled"] = {
        "table": str(tmp_path / "labelled.tsv"),
        "columns": {"source": 0, "target": 1, "label": 2},
    }
    pairs = [f"The man sees {n} birds.\tDer Mann sieht {n} Vögel.\t1" for n in range(9)]
    pairs += [f"The man sees {n} birds.\tBilder {n + 1}\t0" for n in range(9)]
    (tmp_path / "labelled.tsv").write_text("\n".join(["source\ttarget\tlabel", *pairs, ""]))
    (tmp_path / "scores.yaml").write_text(yaml.safe_dump(config))
    return tmp_path / "scores.yaml"


@pytest.mark.workflows
def test_scores_drop_rows_and_weight_the_rest(tmp_path, config):
    run = snakemake(
        tmp_path, config, "--cores", "1", REPORT, FILTERS, TRAINING, imported=TRANSLATION
    )
    assert run.returncode == 0, run.stdout
    results = tmp_path / "results/tiny"
    rows = list(csv.DictReader((tmp_path / REPORT).read_text().splitlines()))
    dropped = {(row["corpus"], row["filter"]): row["dropped"] for row in rows}

    clean = count_rows(results / "corpora/tatoeba/cleaned")
    by_source = clean * 5 // 100
    by_target = (clean - by_source) * 25 // 1000
    assert dropped["tatoeba", "language_model_source"] == str(by_source)
    assert dropped["tatoeba", "language_model_target"] == str(by_target)
    by_words = (clean - by_source - by_target) // 100
    by_all = (clean - by_source - by_target - by_words) // 100
    assert dropped["tatoeba", "lexical_translation"] == str(by_words)
    assert dropped["tatoeba", "combined"] == str(by_all)
    left = count_rows(results / "corpora/tatoeba/selected")
    assert left == clean - by_source - by_target - by_words - by_all
    english = count_rows(results / "corpora/english/cleaned")
    assert count_rows(results / "corpora/english/selected") == english > 50
    assert ("english", "language_model_target") not in dropped
    assert "cross_entropy_target" not in read_schema(results / "corpora/english/selected").names

    merged = count_rows(results / "distilled/tatoeba/merged.parquet")
    assert dropped["tatoeba, distilled", "reverse_model"] == str(merged // 10)
    assert ("english, distilled", "reverse_model") not in dropped
    table = read_columns(tmp_path / TRAINING, ["corpus", "weight"])
    counts = table["corpus"].value_counts().to_pylist()
    kept = {entry["values"]: entry["counts"] for entry in counts}
    english = count_rows(results / "distilled/english/merged.parquet")
    assert merged and kept.get("english", 0) == english
    assert kept["tatoeba"] == merged - merged // 10
    assert table["weight"].null_count == 0
    assert all(0 < weight < 1 for weight in table["weight"].to_pylist())

    # After a change of a cut, nothing is scored anew.
    changed = config.read_text().replace("percent: 2.5", "threshold: 3.0")
    config.write_text(changed)
    run = snakemake(tmp_path, config, "--dry-run", "--quiet", "rules", "--cores", "1", REPORT)
    assert "select_corpus" in run.stdout, run.stdout
    # Only the distilled text is scored anew, and it does not have these scores.
    for rule in ("score_by_lexical_translation", "score_combined"):
        assert rule not in run.stdout, run.stdout
