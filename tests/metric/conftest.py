"""Scores of unbabel-comet, computed once for all tests."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.metric.classes import (
    CLASSES,
    VARIANTS,
    encoder_of,
    encoders,
    forms,
    hyperparameters_of,
    samples,
)
from tests.metric.comet_environment import COMET, need_comet
from tests.metric.small import make_checkpoint, make_encoder, write_sentencepiece


@pytest.fixture(scope="session")
def comet(tmp_path_factory):
    """Return unbabel-comet's answers by checkpoint path, for checkpoints written here and by unbabel-comet."""
    need_comet()
    root = tmp_path_factory.mktemp("comet")
    ours = {}
    for name, other in VARIANTS.items():
        if name != "minilm":
            folder = make_checkpoint(root / "ours" / name, encoder_of(root, other), **other)
            ours[str(folder)] = [samples("src" if name == "referenceless" else "both")]
    old = make_encoder(root / "old")
    write_sentencepiece(old)
    ours[str(make_checkpoint(root / "ours/sentencepiece", old))] = [samples("both")]
    folders = encoders(root / "encoders")
    write = {str(root / name): hyperparameters_of(name, folders) for name in CLASSES}
    theirs = {str(root / name): [samples(form) for form in forms(name)] for name in CLASSES}
    (root / "task.json").write_text(json.dumps({"write": write, "score": ours | theirs}))
    script = Path(__file__).with_name("oracle.py").resolve()
    command = [COMET, script, root / "task.json", root / "answer.json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root / "encoders")
    assert not done.returncode, done.stderr
    answer = json.loads((root / "answer.json").read_text())
    return {
        "ours": {path: answer[path] for path in ours},
        "theirs": {Path(path).name: (path, answer[path]) for path in theirs},
    }
