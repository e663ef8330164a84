"""Commands that run with the bare package and with each extra, and the files they read."""

import json
from pathlib import Path

import pyarrow as pa

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder
from tests.small_models import make_folder, make_vocabulary
from weebill.corpus.table import write_table

TRAINING = {"updates": 1, "warmup": 0}
SMALL = {"by": "making", "architecture": "gpt2", "positions": 1024, "training": TRAINING}
CONFIG = {
    "experiment": "own",
    "kind": "generation",
    "data": {"text": {"task": "language-modelling", "train": [{"path": "src"}]}},
    "models": {"small": {**SMALL, "data": "text"}},
    "steps": {"tuned": {"method": "fine-tune", "training": TRAINING}},
    "pipelines": [{"model": "small", "steps": ["tuned"]}],
}
# By extra ("" for the bare package); commands run in this order, in the folder of `prepare`.
COMMANDS = {
    "": ("describe --all", "check own.json", "fetch --list", "benchmark --help"),
    "train": (
        "translate model",
        "compare model",
        "convert model marian --to marian",
        "convert model onnx --to onnx",
        "convert model ctranslate2 --to ctranslate2",
        "benchmark runtime --help",
    ),
    "metric": (
        "score --model metric -s src -r ref -t out",
        "mbr --utility chrf -s src -t out --candidates 1",
    ),
    "generation": ("describe tiny",),  # test_commands.py imports its modules
    "workflow": ("export text.parquet --source text.zst",),
}


def prepare(folder: Path) -> None:
    """Write the commands' input: a student, a metric, texts, a table and a configuration."""
    vocabulary = make_vocabulary(folder / "vocab.spm")
    make_folder(folder / "model", vocabulary, kind="attention")
    make_checkpoint(folder / "metric", make_encoder(folder / "encoder"))
    for name, lines in {"src": SOURCES, "ref": REFERENCES, "out": SYSTEMS["good"]}.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    write_table(folder / "text.parquet", pa.table({"source": SOURCES, "target": REFERENCES}))
    (folder / "own.json").write_text(json.dumps(CONFIG), encoding="utf-8")
