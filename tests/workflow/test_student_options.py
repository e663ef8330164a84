"""Augmented, aligned and staged text of students in the workflow: only options that are set add jobs."""

import re

import pytest
import yaml

from tests.workflow.running import TINY, snakemake


def edges(folder, config):
    """Return (rule, rule that reads its output) for a student and a shortlist."""
    targets = ["models/demo.micro/unpruned/float32", "shortlist/500/shortlist.safetensors"]
    run = snakemake(
        folder, config, "--rulegraph", "dot", *(f"results/tiny/{target}" for target in targets)
    )
    assert run.returncode == 0, run.stdout
    names = dict(re.findall(r'(\d+)\[label = "(\w+)"', run.stdout))
    return {(names[one], names[other]) for one, other in re.findall(r"(\d+) -> (\d+)", run.stdout)}


@pytest.mark.workflows
def test_options_make_jobs_of_their_own(tmp_path):
    config = yaml.safe_load(TINY.read_text())
    plain = edges(tmp_path, TINY)
    readers = {("merge_distilled", "train_student"), ("merge_distilled", "make_shortlist")}
    assert readers <= plain

    config["distillation"]["augmentation"] = {"typos": 0.1}
    config["training"]["guided_alignment"] = 0.1
    config["training"]["stages"] = [{"updates": 4, "copies": {"english": 0}}, {"augmented": False}]
    (tmp_path / "options.yaml").write_text(yaml.safe_dump(config))
    assert edges(tmp_path, tmp_path / "options.yaml") == plain - readers | {
        ("merge_distilled", "augment_text"),
        ("augment_text", "align_text"),
        ("train_vocabulary", "align_text"),
        ("augment_text", "make_shortlist"),
        ("align_text", "train_student"),
    }
