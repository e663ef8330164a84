"""Scripts in bicleaner's environment: few imports of our modules, training, equal repetition, and scores."""

import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from weebill.corpus.bicleaner.classification import load_classifier
from weebill.corpus.bicleaner.exchange import read_scores, write_parts
from weebill.corpus.labelled import roc_auc
from weebill.errors import InputError

REPOSITORY = Path(__file__).parents[3]
PYTHON = REPOSITORY / ".venvs/bicleaner/bin/python"
SETTINGS = {
    "vocabulary": 100,
    "max_pieces": 16,
    "embedding": 16,
    "hidden": 16,
    "epochs": 8,
    "patience": 8,
    "batch_size": 64,
}
SCRIPTS = ("abcdefghijklm", "nopqrstuvwxyz")


def test_its_modules_import_nothing_of_the_main_environment():
    code = (
        "import sys; import weebill.workflow.job; import weebill.corpus.bicleaner.training; "
        "import weebill.corpus.bicleaner.classification; print(*sys.modules)"
    )
    # No package of site-packages is loaded but psutil, which bicleaner's environment has too.
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True
    )
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert run.returncode == 0, run.stderr
    assert loaded.isdisjoint({"numpy", "pyarrow", "pandas", "torch", "tensorflow", "snakemake"})


def test_a_folder_without_a_model(tmp_path):
    with pytest.raises(InputError, match=r"no bicleaner-ai model, metadata\.yaml is missing"):
        load_classifier(tmp_path, ("en", "de"))


@pytest.fixture
def there(tmp_path):
    """Return a function that runs a script in bicleaner's environment and returns its log."""
    if not PYTHON.is_file():
        pytest.skip(
            f"bicleaner's environment is not here; envs/install.sh bicleaner {PYTHON.parents[1]}"
        )

    def run(name, *arguments, fails=False):
        log = tmp_path / f"{name}.log"
        script = REPOSITORY / f"workflow_scripts/scores/{name}.py"
        command = [PYTHON, "-P", script, "--log", log, "--languages", "en", "de", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        code = subprocess.run(list(map(str, command)), env=environment, cwd=tmp_path).returncode
        assert (code != 0) == fails, log.read_text()
        return log.read_text()

    return run


def sentences(count, seed):
    """Return pairs in two languages of 40 words each; a word always has the same translation."""
    draw = random.Random(0)
    words = [["".join(draw.choices(letters, k=5)) for letters in SCRIPTS] for _ in range(40)]
    draw = random.Random(seed)
    for _ in range(count):
        chosen = [draw.choice(words) for _ in range(draw.randint(3, 7))]
        yield tuple(" ".join(word[side] for word in chosen) for side in (0, 1))


@pytest.fixture
def text(tmp_path):
    """Write training and validation pairs."""
    (tmp_path / "clean").mkdir()
    for name, count, seed in (("training", 600, 1), ("validation", 60, 2)):
        lines = "".join(f"{s}\t{t}\n" for s, t in sentences(count, seed))
        (tmp_path / f"clean/{name}.tsv").write_text(lines)
    return tmp_path / "clean"


@pytest.mark.timeout(1800)
def test_a_classifier_is_trained_and_scores(tmp_path, there, text):
    for model in ("model", "again"):
        arguments = (
            "--pairs",
            text,
            "--output",
            model,
            "--settings",
            json.dumps(SETTINGS),
            "--seed",
            1,
        )
        there("train_bicleaner", *arguments)
    files = ["metadata.yaml", "model.h5", "spm.model", "spm.vocab"]
    made = [sorted((tmp_path / model).iterdir()) for model in ("model", "again")]
    assert [[path.name for path in one] for one in made] == [files, files]
    # The weights in model.h5 are equal, as scores below show; Keras' metadata may differ.
    for one, other in zip(*made, strict=True):
        assert one.suffix == ".h5" or one.read_bytes() == other.read_bytes()

    good = list(sentences(100, 3))
    bad = [(s, t) for (s, _), (_, t) in zip(good, good[1:] + good[:1], strict=True)]
    odd = [
        ("same words here", "same words here"),
        ("", "none"),
        ("one two\u2028three", "four five"),
    ]
    write_parts([*good, *bad, *odd], tmp_path / "pairs", 64)

    def scored(output, model, *options):
        arguments = ("--pairs", "pairs", "--model", model, "--output", output, "--code", "x")
        there("classify_by_bicleaner", *arguments, "--threads", 1, *options)
        return read_scores(tmp_path / "pairs", tmp_path / output)

    scores = scored("scores", "model")
    assert ((scores >= 0) & (scores <= 1)).all() and scores[201] == 0
    is_good = np.arange(200) < 100
    assert roc_auc(scores[:200], is_good) > 0.8
    assert np.array_equal(scored("of_the_same_seed", "again"), scores)

    ruled = scored("ruled", "model", "--hard-rules")
    assert ruled[200] == 0 < scores[200]  # hard rules reject copies
    passed = ruled > 0
    # Batches differ, so sums have another order.
    assert passed[:200].sum() > 150 and np.allclose(ruled[passed], scores[passed], atol=1e-5)


@pytest.mark.timeout(1800)
def test_errors_are_one_line(tmp_path, there, text):
    settings = json.dumps(SETTINGS | {"vocabulary": 30_000})
    arguments = ("--pairs", text, "--output", "model", "--settings", settings, "--seed", 1)
    said = there("train_bicleaner", *arguments, fails=True)
    assert "lower scoring.bicleaner.training.vocabulary" in said.splitlines()[-1]
    assert not list(tmp_path.glob("*model*"))

    with gzip.open(write_one(tmp_path), "wb") as file:
        file.write(b"one\ttwo\tthree\n")
    (tmp_path / "model").mkdir()
    arguments = ("--pairs", "pairs", "--model", "model", "--output", "scores", "--code", "x")
    said = there("classify_by_bicleaner", *arguments, "--threads", 1, fails=True)
    assert "no bicleaner-ai model, metadata.yaml is missing" in said.splitlines()[-1]


def write_one(folder):
    write_parts([("one", "two")], folder / "pairs")
    return folder / "pairs/part-00000.tsv.gz"
