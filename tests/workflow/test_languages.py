"""The experiments with real text in languages other than German, shortened to minutes, through all stages."""

import csv

import pytest
import yaml

from tests.workflow.running import REPOSITORY, TRANSLATION, report_is_whole, snakemake

LINES = 4000


def shorter(training, **values):
    """Return a training's settings, shortened to a few updates."""
    few = {"updates": 40, "warmup": 20, "validate_every": 20, "checkpoint_every": 20}
    return {**training, **few, **values}


@pytest.fixture
def cut(tmp_path, real_text):
    """Return a function that writes an experiment from config/ with less text and fewer updates."""

    def made(name):
        config = yaml.safe_load((REPOSITORY / f"config/{name}.yaml").read_text("utf-8"))
        corpus = config["corpora"]["tatoeba"]
        for side in ("source", "target"):
            real_text(corpus[side].removeprefix("origin:"))  # skips the test without a mirror
        corpus["lines"]["last"] = LINES
        for part in (config["validation"], config["test_sets"]["tatoeba_test"]):
            part["lines"]["last"] = part["lines"]["first"] + 19
        # So little text does not give more pieces.
        config["vocabulary"] = {
            key: value if key == "joint" else 2400 if key == "size" else 1200
            for key, value in config["vocabulary"].items()
        }
        # A smaller teacher learns in seconds to give some output.
        learnt = {"updates": 150, "warmup": 30, "validate_every": 75, "checkpoint_every": 75}
        learnt |= {"learning_rate": 0.004, "label_smoothing": 0.0, "dropout": 0.0}
        config["teacher"]["architecture"] = "demo.teacher"
        config["teacher"]["training"] = shorter(config["teacher"]["training"], **learnt)
        config["distillation"] |= {"beam": 1, "min_teacher_bleu": 0, "max_repeats": 0}
        config["training"] = shorter(config["training"])
        config["pruning"]["steady-i4"] |= {"reset_to": 10, "iteration_updates": 2}
        for grid in ("int8", "log4"):
            config["quantization"][grid]["finetune"] |= {"updates": 10, "warmup": 5, "validate_every": 5}  # fmt: skip
        config["evaluation"] = {
            "bootstrap": 50,
            "speed": {"sentences": 20, "rounds": 2, "least_seconds": 0, "latency_sentences": 3},
        }
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")
        return tmp_path / f"{name}.yaml"

    return made


@pytest.mark.workflows
@pytest.mark.parametrize("name", ["en-ja", "en-ar"])
def test_all_stages(tmp_path, cut, name):
    run = snakemake(tmp_path, cut(name), "--cores", "1", imported=TRANSLATION)
    assert run.returncode == 0, run.stdout
    results = tmp_path / "results" / name
    assert report_is_whole(results)
    rows = list(csv.DictReader((results / "tables/cleaning.csv").read_text("utf-8").splitlines()))
    (kept,) = [int(row["left"]) for row in rows if row["filter"] == "kept"]
    assert kept > LINES / 5
    exported = results / "exports/multi30k.micro/steady-i4/int8/marian"
    vocabularies = yaml.safe_load((exported / "config.yml").read_text("utf-8"))["vocabs"]
    assert vocabularies == (["source.spm", "vocab.spm"] if name == "en-ja" else ["vocab.spm"] * 2)
