"""The score `bicleaner` in the workflow: its environment is made if needed, its model is trained or fetched."""

import math

import pytest
import yaml

from tests.workflow.running import REPOSITORY, TINY, snakemake
from weebill.corpus.table import read_columns

SELECTED = "results/tiny/corpora/tatoeba/selected"
ENVIRONMENT = REPOSITORY / ".venvs/bicleaner"
TRAINING = {
    "pairs": 600,
    "vocabulary": 300,
    "max_pieces": 16,
    "embedding": 16,
    "hidden": 16,
    "epochs": 2,
}


@pytest.fixture
def configured(tmp_path):
    """Return a function that makes the smallest experiment that drops rows by a section `scoring.bicleaner`."""

    def write(bicleaner):
        config = yaml.safe_load(TINY.read_text())
        config["corpora"].pop("english")
        config["cleaning"]["scores"] = {"bicleaner": {"cut": {"percent": 10}}}
        config["scoring"] = {"bicleaner": bicleaner}
        (tmp_path / "bicleaner.yaml").write_text(yaml.safe_dump(config))
        return tmp_path / "bicleaner.yaml"

    return write


@pytest.mark.parametrize(
    ("bicleaner", "jobs", "others"),
    [
        ({"training": TRAINING}, ["train_bicleaner", "clean_pairs"], ["unpack_bicleaner"]),
        (
            {"model": "https://x.org/lite-en-de.tgz", "sha256": "a" * 64},
            ["unpack_bicleaner"],
            ["train_bicleaner", "clean_pairs"],
        ),
        ({"model": "."}, [], ["train_bicleaner", "clean_pairs", "unpack_bicleaner"]),
    ],
    ids=["trained", "fetched", "there"],
)
def test_jobs(tmp_path, configured, bicleaner, jobs, others):
    config = configured(bicleaner)
    run = snakemake(tmp_path, config, "--dry-run", "--quiet", "rules", "--cores", "1", SELECTED)
    assert run.returncode == 0, run.stdout
    for name in ["environment", "classify_by_bicleaner", "score_by_bicleaner", *jobs]:
        assert name in run.stdout, run.stdout
    assert not any(name in run.stdout for name in others), run.stdout


@pytest.mark.timeout(1800)
def test_a_classifier_trained_on_the_spot_drops_rows(tmp_path, configured):
    if not (ENVIRONMENT / ".installed").is_file():
        pytest.skip(f"bicleaner's environment is not here; envs/install.sh bicleaner {ENVIRONMENT}")
    (tmp_path / ".venvs").symlink_to(ENVIRONMENT.parent)
    run = snakemake(tmp_path, configured({"training": TRAINING}), "--cores", "1", SELECTED)
    assert run.returncode == 0, run.stdout
    rows = read_columns(
        tmp_path / SELECTED, ["dropped_by", "bicleaner_probability"], kept=False
    ).to_pylist()
    scored = [row for row in rows if row["bicleaner_probability"] is not None]
    cut = [row for row in scored if row["dropped_by"] == "bicleaner"]
    kept = [row for row in rows if row["dropped_by"] is None]
    assert len(cut) == math.floor(len(scored) / 10) and len(kept) == len(scored) - len(cut)
    worst = max(row["bicleaner_probability"] for row in cut)
    assert worst <= min(row["bicleaner_probability"] for row in kept)
