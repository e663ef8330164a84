"""Augmented, aligned and staged text of students in the workflow: jobs where it is asked for, and none elsewhere."""

import yaml

from tests.workflow.running import TINY, snakemake

JOBS = ("augment_text", "align_text")


def test_options_make_jobs_of_their_own(tmp_path):
    config = yaml.safe_load(TINY.read_text())
    plain = snakemake(tmp_path, TINY, "--dry-run", "--quiet", "rules")
    assert plain.returncode == 0, plain.stdout
    assert not any(job in plain.stdout for job in JOBS)

    config["distillation"]["augmentation"] = {"typos": 0.1}
    config["training"]["guided_alignment"] = 0.1
    config["training"]["stages"] = [{"updates": 12, "copies": {"stories": 0}}, {"augmented": False}]
    (tmp_path / "options.yaml").write_text(yaml.safe_dump(config))
    run = snakemake(
        tmp_path,
        tmp_path / "options.yaml",
        "--dry-run",
        "results/tiny/models/demo.micro/unpruned/float32",
        "results/tiny/shortlist/300/shortlist.safetensors",
    )
    assert run.returncode == 0, run.stdout
    inputs = [line.strip() for line in run.stdout.splitlines() if line.strip().startswith("input:")]
    student = next(
        line
        for line in inputs
        if "vocab.spm" in line and "validation" in line and "aligned" in line
    )
    assert "results/tiny/distilled/aligned/300/training.parquet" in student
    assert any(
        line.startswith("input: results/tiny/distilled/augmented.parquet, results/tiny/vocabulary")
        for line in inputs
    )
