"""The variants of a generation experiment follow from its pipelines."""

from pathlib import Path

from weebill.configuration.checking import check
from weebill.experiment.pipelines import task_of, variants, variants_of
from weebill.yaml_files import read_yaml

SMALL = read_yaml(Path(__file__).parents[2] / "config/generation-small.yaml")


def test_variants_are_all_prefixes_once():
    config = check(SMALL, "x.yaml")
    found = variants(config)
    assert len(found) == len(set(found)) == 14
    assert found[:3] == [
        "bart/fine-tuned",
        "bart/fine-tuned/distilled",
        "bart/fine-tuned/distilled/pruned",
    ]
    assert all(name.startswith("gpt2/") for name in variants_of(config, "gpt2"))
    assert task_of(config, "gpt2") == "language-modelling"
