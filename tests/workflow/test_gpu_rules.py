"""Every rule that may use a GPU asks for it as a resource, so that Snakemake and schedulers count it."""

import pytest

from tests.workflow.running import REPOSITORY, read_workflow

# Rules whose parameters come from rules that use a GPU, or say where texts were written.
ON_PROCESSOR = {"prune_vocabulary", "measure_summaries", "quantize_weights"}
# Configurations at the papers' size: all have `accelerator: gpu`.
NAMES = ("wngt20", "wmt21", "cometinho", "textgen")


def read(workflow):
    """Return two booleans for each rule: its parameters name a GPU, its resources name a GPU."""
    return {
        rule.name: [
            any(names_gpu(value) for value in dict(rule.params.items()).values()),
            "gpu" in rule.resources,
        ]
        for rule in workflow.rules
    }


def names_gpu(value) -> bool:
    """Return True if a parameter is a GPU or hardware with one; the report's whole configuration does not count."""
    if isinstance(value, dict):
        value = value.get("accelerator")
    return value in ("gpu", "cuda")


@pytest.mark.workflows
@pytest.mark.parametrize("name", NAMES)
def test_rules_that_use_a_gpu_ask_for_it(tmp_path, name):
    rules = read_workflow(tmp_path, REPOSITORY / f"config/{name}.yaml", read)
    used = {rule for rule, (uses, _) in rules.items() if uses}
    asked = {rule for rule, (_, asks) in rules.items() if asks}
    assert len(used) > 2
    assert sorted(used - asked - ON_PROCESSOR) == []
