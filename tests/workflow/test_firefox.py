"""A student is trained and exported for Firefox; another experiment shrinks and exports it again."""

import os

import pytest
import yaml

from tests.workflow.running import TINY, TRANSLATION, report_is_whole, snakemake
from weebill.files import read_json
from weebill.translation.model.packed_folder import load_any_model

MODELS = "results/firefox/models/demo.micro"
EXPORTS = "results/firefox/exports/demo.micro"


@pytest.fixture
def experiments(tmp_path):
    """Write the configurations of both experiments, with the smallest experiment's sizes."""
    config = yaml.safe_load(TINY.read_text())
    config |= {"vocabulary": {"size": 504}, "report": {}, "pruning": {}}
    config["corpora"] = {"tatoeba": {"importer": "tatoeba", "pairs": 700}}
    config["teacher"]["members"] = 1
    config["distillation"] |= {"beam": 2, "max_repeats": 0, "shards": 1}  # the teacher loops
    speaks = {"updates": 160, "learning_rate": 0.01, "warmup": 20, "validate_every": 80}
    config["teacher"]["training"] |= speaks
    config["training"] |= speaks | {"guided_alignment": 0.1}
    config["quantization"]["int8"] = {}
    config["variants"], config["exports"] = ["*/unpruned/int8"], {"firefox": ["*/unpruned/int8"]}
    del config["quantization"]["log4"], config["evaluation"]["mbr"]
    (tmp_path / "original.yaml").write_text(yaml.safe_dump(config))

    folder = "results/tiny/exports/demo.micro/unpruned/int8/firefox"
    config |= {"experiment": "firefox", "published": {"folder": folder}}
    config |= {"vocabulary": {"size": 496}, "teacher": {"published": True}}
    config["training"] |= {"updates": 40, "learning_rate": 0.003, "validate_every": 20}
    config["pruning"] = {
        "even": {"method": "even", "encoder_layers": 1, "neurons": 0.5, "reset_to": 0},
        "uneven": {"method": "one-shot", "heads": 0.25, "blocks": "*", "reset_to": 0},
    }
    config["quantization"]["int8"] = {"finetune": {"updates": 10, "learning_rate": 1e-4}}
    config["variants"] = ["*/*even/int8-finetuned"]
    config["exports"] = {"firefox": ["*/even/int8-finetuned"]}
    (tmp_path / "firefox.yaml").write_text(yaml.safe_dump(config))
    return tmp_path


@pytest.mark.workflows
def test_a_published_student_becomes_smaller(experiments):
    for name in ("original", "firefox"):
        arguments = ("--cores", "1")
        run = snakemake(experiments, experiments / f"{name}.yaml", *arguments, imported=TRANSLATION)
        assert run.returncode == 0, run.stdout
    assert report_is_whole(experiments / "results/firefox")
    even, uneven = (
        load_any_model(experiments / MODELS / recipe / "int8-finetuned")
        for recipe in ("even", "uneven")
    )
    assert even.network.guided and uneven.network.guided
    shape = even.network.architecture
    assert {one.feed_forward for one in (*shape.encoder, *shape.decoder)} == {64}
    assert (len(shape.encoder), len(shape.decoder), shape.vocabulary) == (3, 1, 496)
    assert uneven.network.architecture.decoder[-1].heads > 0
    (model,) = (experiments / EXPORTS / "even/int8-finetuned/firefox").glob("model.*.bin")
    (before,) = (experiments / "results/tiny/exports").rglob("model.*.bin")
    assert model.stat().st_size < 0.8 * before.stat().st_size
    measured = read_json(experiments / "results/firefox/evaluation/firefox.json")["rows"]
    engines = {"Weebill", "bergamot"} if "WEEBILL_BERGAMOT" in os.environ else {"Weebill"}
    assert [row["engines"].keys() for row in measured] == [engines, engines, {"Weebill"}]
    aligned = read_json(experiments / "results/firefox/evaluation/alignments.json")
    assert {row["variant"].split("/")[1] for row in aligned} == {"unpruned", "even", "uneven"}
