"""Students of Mozilla's shapes, trained and run by Marian itself (the package pymarian of another Python)."""

import os
import subprocess
from pathlib import Path

import pytest

VARIABLE = "WEEBILL_PYMARIAN"
PROGRAM = "import sys, _pymarian; sys.exit(_pymarian.main(sys.argv[1:]))"
# Options of Mozilla's training of students; later lists and numbers are those of a student's shape.
STUDENT = """
--type transformer --enc-type bidirectional --enc-cell gru --enc-cell-depth 1
--dec-cell ssru --dec-cell-base-depth 2 --dec-cell-high-depth 1 --transformer-decoder-autoreg rnn
--transformer-ffn-activation relu --transformer-ffn-depth 2 --transformer-guided-alignment-layer last
--transformer-postprocess dan --transformer-postprocess-emb d --transformer-heads 8
"""
# Optimizer and batches for a training of minutes.
TRAINING = """
--optimizer-params 0.9 0.98 1e-09 --clip-norm 0 --learn-rate 0.001 --lr-warmup 100 --cost-type ce-mean-words
--mini-batch 64 --maxi-batch 100 --max-length 40 --workspace 1000 --cpu-threads 1 --seed 1 --quiet
"""
# Each sentence alone: the longest source of a batch would limit the outputs of all.
GREEDY = "--beam-size 1 --max-length-factor 2 --mini-batch 1 --cpu-threads 1 --quiet"


def python() -> str:
    """Return the Python that has pymarian; skip the test if its environment variable is not set."""
    if not (found := os.environ.get(VARIABLE)):
        pytest.skip(f"{VARIABLE} names no Python with pymarian; `make opponents` makes one")
    return found


def marian(*arguments: object, text: str = "") -> str:
    """Run a Marian command with a text as input; return its output."""
    command = [python(), "-c", PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def train(
    folder: Path, vocabularies: list[Path], pairs: list[tuple[str, str]], updates: int, **shape: int
) -> Path:
    """Train a student on line pairs and return the model.  shape: options such as enc_depth=6."""
    texts = folder / "train.source", folder / "train.target"
    for path, lines in zip(texts, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    sizes = [word for name, size in shape.items() for word in (f"--{name.replace('_', '-')}", size)]
    files = ["--model", folder / "model.npz", "--train-sets", *texts, "--vocabs", *vocabularies]
    files += ["--tied-embeddings" + "-all" * (vocabularies[0] == vocabularies[1])]
    marian("train", *STUDENT.split(), *TRAINING.split(), *files, *sizes, "--after", f"{updates}u")
    return folder / "model.npz"


def translate(model: Path, vocabularies: list[Path], lines: list[str]) -> list[str]:
    """Translate lines greedily in float32."""
    files = ["--models", model, "--vocabs", *vocabularies]
    text = "".join(f"{line}\n" for line in lines)
    return marian("decode", *files, *GREEDY.split(), text=text).split("\n")[:-1]
