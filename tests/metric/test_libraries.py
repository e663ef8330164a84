"""BERTScore and BLEURT through the workflow's script, with models of random weights."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoTokenizer, XLMRobertaModel

from tests.metric.comet_environment import COMET, need_comet
from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_encoder
from weebill.metric.judged_set import JudgedSet, MetricScores

ROOT = Path(__file__).parents[2]
HEAD = "system\tseg_id\tlp\tsource\treference\thypothesis\tscore\n"
ENCODER = "encoder-t5"  # bert-score would take this name for a T5
ENTRY = {"table": "judged.tsv", "score": "score", "statistic": "mqm", "humans": False}
BLEURT = """
import torch
from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification
from transformers import BertTokenizerFast
words = "[PAD] [UNK] [CLS] [SEP] [MASK] a e i n r s t ##a ##e ##i ##n ##r ##s ##t".split()
with open("vocab.txt", "w") as file:
    file.write("\\n".join(words))
torch.manual_seed(1)
shape = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24)
config = BleurtConfig(vocab_size=len(words), max_position_embeddings=64, num_labels=1, **shape)
BleurtForSequenceClassification(config).save_pretrained("bleurt")
BertTokenizerFast("vocab.txt").save_pretrained("bleurt")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write judgements of all systems, an encoder and a BLEURT model; the last system repeats the reference."""
    need_comet()
    folder = tmp_path_factory.mktemp("judged")
    make_encoder(folder / ENCODER)
    torch.manual_seed(1)
    config = AutoConfig.from_pretrained(folder / ENCODER)
    XLMRobertaModel(config, add_pooling_layer=False).save_pretrained(folder / ENCODER)
    rows = [
        (name, number, "en-de", *texts, 0.5 * number - len(texts[2]))
        for name, lines in {**SYSTEMS, "copy": REFERENCES}.items()
        for number, texts in enumerate(zip(SOURCES, REFERENCES, lines, strict=True))
        if texts[2]
    ]
    table = HEAD + "".join("\t".join(map(str, row)) + "\n" for row in rows)
    (folder / "judged.tsv").write_text(table, encoding="utf-8")
    subprocess.run([COMET, "-c", BLEURT], cwd=folder, check=True)
    return folder


def scored(folder, model, entry=ENTRY, **by):
    output = folder / f"{by['by']}.json"
    options = {
        "log": folder / "log",
        "metric": "m",
        "model": model,
        "judged": "set",
        "entry": json.dumps(entry),
        "by": json.dumps(by),
        "threads": 1,
        "output": output,
    }
    command = [COMET, ROOT / "workflow_scripts/metric/score_by_library.py"]
    command += [word for key, value in options.items() for word in (f"--{key}", str(value))]
    done = subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    return done, output


def rows_of(folder):
    return JudgedSet.read("set", {**ENTRY, "table": str(folder / "judged.tsv")}).judgements


def test_bert_score_is_the_f1_of_matched_states(folder):
    done, output = scored(folder, ENCODER, by="bert-score", encoder="e", layer=2)
    assert done.returncode == 0, done.stdout + done.stderr
    found = MetricScores.from_dict(json.loads(output.read_text()))
    assert found.signature.startswith("bert-score:0.3") and found.signature.endswith("|layer:2")
    tokenizer = AutoTokenizer.from_pretrained(folder / ENCODER)
    encoder = XLMRobertaModel.from_pretrained(folder / ENCODER).eval()

    def states(text):
        """Return states of unit length; the states of the ends only serve as partners of other states."""
        with torch.inference_mode():
            given = tokenizer(text.strip(), truncation=True, max_length=64, return_tensors="pt")
            (all_states,) = encoder(**given, output_hidden_states=True).hidden_states[2]
        return torch.nn.functional.normalize(all_states, dim=-1)

    rows = rows_of(folder)
    for score, hypothesis, reference in zip(found.scores, rows["mt"], rows["ref"], strict=True):
        likeness = states(hypothesis) @ states(reference).T
        precision = likeness.amax(1)[1:-1].mean()
        recall = likeness.amax(0)[1:-1].mean()
        assert score == pytest.approx(
            float(2 * precision * recall / (precision + recall)), abs=1e-5
        )
    own = [system == "copy" for system in rows["system"]]
    assert np.allclose(found.scores[own], 1) and (found.scores <= 1 + 1e-6).all()


def test_bleurt_scores_do_not_depend_on_their_batch(folder):
    done, output = scored(folder, "bleurt", by="bleurt", encoder="b")
    assert done.returncode == 0, done.stdout + done.stderr
    found = MetricScores.from_dict(json.loads(output.read_text()))
    rows = rows_of(folder)
    assert len(found.scores) == len(rows) and len(set(found.scores.round(6))) > 5
    twice = {}
    for score, *pair in zip(found.scores, rows["mt"], rows["ref"], strict=True):
        assert score == pytest.approx(twice.setdefault(tuple(pair), score), abs=1e-6)


def test_a_folder_without_safetensors_is_refused(folder, tmp_path):
    done, _ = scored(folder, tmp_path, by="bleurt", encoder="b")
    assert done.returncode != 0
    assert "no *.safetensors file; save the model again" in (folder / "log").read_text()


def test_a_table_without_references_and_a_model_of_another_kind_are_refused(folder):
    rows = [line.split("\t") for line in (folder / "judged.tsv").read_text().splitlines()]
    without = "".join("\t".join((*row[:4], *row[5:])) + "\n" for row in rows)
    (folder / "without.tsv").write_text(without, encoding="utf-8")
    entry = {**ENTRY, "table": "without.tsv"}
    done, _ = scored(folder, ENCODER, entry, by="bert-score", encoder="e", layer=2)
    assert done.returncode != 0
    assert "compares with references, and the table has none" in (folder / "log").read_text()
    done, _ = scored(folder, ENCODER, by="bert-score", encoder="e", layer=4)
    assert done.returncode != 0
    assert f"{ENCODER}: layer 4 of 3; name one that it has" in (folder / "log").read_text()
    done, _ = scored(folder, ENCODER, by="bleurt", encoder="e")
    assert done.returncode != 0
    assert f"{ENCODER}: no model for bleurt-pytorch" in (folder / "log").read_text()
