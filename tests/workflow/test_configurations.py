"""Every experiment resolves to a complete DAG, quickly; profiles parse."""

import re
import resource
import subprocess
import sys

import pytest
import yaml

from tests.workflow.running import CONFIGURATIONS, REPOSITORY, TINY, run_snakemake, snakemake

TARGET = "results/tiny/test_sets/tatoeba_test.parquet"


def children_seconds() -> float:
    """Return the CPU time of all finished children, which does not include waiting for a core."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.workflows
@pytest.mark.parametrize("config", CONFIGURATIONS, ids=lambda path: path.stem)
def test_dry_run(config, tmp_path):
    before = children_seconds()
    run = snakemake(tmp_path, config, "--dry-run", "--quiet", "rules")
    seconds = children_seconds() - before
    assert run.returncode == 0, run.stdout
    given = yaml.safe_load(config.read_text("utf-8"))
    methods = [step["method"] for step in given.get("steps", {}).values()]
    pruning = "pruning" in given or "movement" in methods
    assert bool(re.search("^prune", run.stdout, re.MULTILINE)) == pruning, (
        "the DAG lacks the pruning"
    )
    assert "disk: at most about" in run.stdout
    assert re.search("  time: (about|not known)", run.stdout), run.stdout
    assert (
        seconds < 13
    )  # without the imports of Snakemake; 8 s on an idle machine, but tests share it


@pytest.mark.workflows
def test_a_checkpoint_is_distilled_as_well_as_references_that_are_trained(tmp_path):
    given = yaml.safe_load((REPOSITORY / "config/cometinho.yaml").read_text("utf-8"))
    given["reference"] = {"checkpoint": "Unbabel/wmt20-comet-da"}
    config = tmp_path / "cometinho.yaml"
    config.write_text(yaml.safe_dump(given), encoding="utf-8")
    run = snakemake(tmp_path, config, "--dry-run", "--quiet", "rules")
    assert run.returncode == 0, run.stdout
    jobs = run.stdout.splitlines()
    assert any(line.startswith("import_reference ") for line in jobs)
    assert any(line.startswith("train_distilled ") for line in jobs)


def test_what_the_rules_import_does_without_pytorch():
    """Importing PyTorch would delay every start of Snakemake, one per job, by a second or more."""
    files = [*(REPOSITORY / "rules").rglob("*.smk"), REPOSITORY / "Snakefile"]
    pattern = re.compile(r"^from weebill\S* import (?:\([^)]*\)|.*)$", re.MULTILINE)
    imports = [line for file in files for line in pattern.findall(file.read_text("utf-8"))]
    assert len(imports) > 10
    code = "\n".join([*imports, "import sys", "print('torch' in sys.modules)"])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "False\n", run.stderr


@pytest.mark.parametrize("profile", ["local", "slurm", "cluster-generic"])
def test_profiles_parse(tmp_path, profile):
    if profile == "cluster-generic":
        pytest.importorskip("snakemake_executor_plugin_cluster_generic")
    path = REPOSITORY / "profiles" / profile
    run = snakemake(tmp_path, TINY, "--workflow-profile", str(path), "--dry-run", TARGET)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("profile", ["slurm", "cluster-generic"])
def test_what_profiles_set_is_for_rules_that_exist_and_grows(profile):
    """Snakemake does not report unknown rules in a profile."""
    settings = yaml.safe_load((REPOSITORY / "profiles" / profile / "config.yaml").read_text())
    text = "\n".join(file.read_text() for file in (REPOSITORY / "rules").rglob("*.smk"))
    rules = set(re.findall(r"^\s*(?:use rule \w+ as|rule) (\w+)", text, re.MULTILINE))
    assert set(settings["set-resources"]) | set(settings["set-threads"]) <= rules
    for resources in [settings["default-resources"], *settings["set-resources"].values()]:
        for name in {"runtime", "mem_mb"} & set(resources):
            assert re.fullmatch(r"attempt \* \d+", resources[name])


def test_demo_is_the_default(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    run = run_snakemake("--dry-run", "--quiet", "all")
    assert run.returncode == 0, run.stdout
