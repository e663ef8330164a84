"""The workflow as a module of another workflow in its own folder: `module` and `use rule *`."""

import re
import shutil
import subprocess

import pytest
import yaml

from tests.workflow.running import REPOSITORY, TINY, run_snakemake
from weebill.corpus.table import count_rows

pytestmark = pytest.mark.workflows

TINY_CONFIG = yaml.safe_load(TINY.read_text())
IMPORTS = {
    "own file": """
configfile: "mine.yaml"
module other:
    snakefile: "{snakefile}"
    config: config["weebill"]
use rule * from other as other_*
""",
    "dictionary": """
import yaml
module other:
    snakefile: "{snakefile}"
    config: yaml.safe_load(open("{folder}/run/tiny.yaml"))
use rule * from other
""",
    "fetched": """
configfile: "config/config.yml"
module weebill:
    snakefile: github("me/weebill", path="Snakefile", tag="v1")
    config: config
use rule * from weebill
""",
    "shared": """
module other:
    snakefile: "{snakefile}"
    config: config
use rule * from other as other_*
""",
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs an importing workflow/Snakefile in run/; it returns exit code and all output."""
    (tmp_path / "workflow").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run/tiny.yaml").write_text(TINY.read_text())
    (tmp_path / "run/mine.yaml").write_text(yaml.safe_dump({"mine": 1, "weebill": TINY_CONFIG}))

    def snakemake(text: str, *arguments: str) -> tuple[int, str]:
        snakefile = tmp_path / "workflow/Snakefile"
        snakefile.write_text(text.format(snakefile=REPOSITORY / "Snakefile", folder=tmp_path))
        done = run_snakemake("--snakefile", str(snakefile), "--cores", "1", *arguments)
        return done.returncode, done.stdout

    monkeypatch.chdir(tmp_path / "run")
    return snakemake


@pytest.mark.parametrize("way", ["dictionary", "shared"])
def test_a_dry_run_goes_to_the_end(run, way):
    prefix = "" if way == "dictionary" else "other_"
    given = ("--configfile", "tiny.yaml") if way == "shared" else ()
    code, output = run(IMPORTS[way], "--dry-run", "--quiet", "rules", *given)
    assert code == 0, output
    for rule in ("all", "import_corpus", "train_student", "provenance"):
        assert f"\n{prefix}{rule} " in output
    assert "results/tiny: an estimate for a run from nothing on" in output


def test_a_job_runs(run, tmp_path):
    """The script of the job is found, and reads the module's own configuration."""
    code, output = run(IMPORTS["own file"], "--until", "other_import_test_set")
    assert code == 0, output
    table = tmp_path / "run/results/tiny/test_sets/tatoeba_test.parquet"
    assert count_rows(table) == TINY_CONFIG["test_sets"]["tatoeba_test"]["pairs"]


def test_scripts_and_pins_of_other_environments_are_found(run, tmp_path):
    text = IMPORTS["dictionary"].replace("{folder}/run/tiny.yaml", "{folder}/run/metric.yaml")
    metric = (REPOSITORY / "config/metric-small.yaml").read_text()
    (tmp_path / "run/metric.yaml").write_text(metric)
    code, output = run(text, "--dry-run", "--printshellcmds")
    assert code == 0, output
    for file in ("workflow_scripts/metric/train_regression.py", "envs/install.sh"):
        assert f"{REPOSITORY}/{file}" in output
        assert f"{tmp_path}/workflow/{file}" not in output


def test_an_error_names_where_the_configuration_comes_from(run):
    text = IMPORTS["dictionary"].replace("config: yaml", "config: {{'sead': 1}} | yaml")
    code, output = run(text, "--dry-run")
    assert code == 1 and "config of the module: sead: " in output and "Traceback" not in output


@pytest.fixture
def publish(tmp_path, monkeypatch):
    """Return a function that makes Snakemake find this workflow, with a change, as tag v1 on a git host."""

    def fetched(change: str = "") -> None:
        clone, config = tmp_path / "clone", tmp_path / "run/config"
        for name in ("config", "envs", "report", "rules", "workflow_scripts"):
            shutil.copytree(REPOSITORY / name, clone / name, symlinks=True)
        shutil.copy(REPOSITORY / "Snakefile", clone)
        with (clone / "rules/report.smk").open("a") as rules:
            rules.write(change)
        cache = tmp_path / "cache/snakemake/snakemake/source-cache/snakemake-git-cache"
        for command in (
            ["init", "-q", "."],
            ["add", "."],
            ["-c", "user.name=me", "-c", "user.email=me", "commit", "-q", "-m", "one"],
            ["tag", "v1"],
            ["clone", "-q", "--bare", ".", str(cache / "github.com/me/weebill")],
        ):
            subprocess.run(["git", *command], cwd=clone, check=True)
        shutil.rmtree(clone)
        config.mkdir()
        (config / "config.yml").write_text(TINY.read_text())
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    return fetched


def test_rules_from_a_git_host_run_with_the_clone_of_the_library(run, publish, tmp_path):
    """The importing workflow is like the one that `snakedeploy deploy-workflow` writes."""
    publish()
    code, output = run(IMPORTS["fetched"], "--until", "import_test_set")
    assert code == 0, output
    table = tmp_path / "run/results/tiny/test_sets/tatoeba_test.parquet"
    assert count_rows(table) == TINY_CONFIG["test_sets"]["tatoeba_test"]["pairs"]
    code, output = run(IMPORTS["fetched"], "--dry-run", "--quiet", "rules")
    assert code == 0 and re.search(r"^train_student +1$", output, re.MULTILINE), output
    assert not re.search("^import_test_set ", output, re.MULTILINE), "it is done"


def test_rules_of_another_version_are_refused(run, publish):
    publish("# a later version\n")
    code, output = run(IMPORTS["fetched"], "--dry-run")
    (line,) = [line for line in output.splitlines() if "differs from" in line]
    assert code == 1 and "Traceback" not in output
    assert f"{REPOSITORY}/rules/report.smk; check out the same version in {REPOSITORY}" in line


def test_what_the_guide_shows_runs(run, tmp_path):
    guide = (REPOSITORY / "docs/guides/workflow.md").read_text("utf-8")
    shown = guide.split("```snakemake\n", 1)[1].split("```", 1)[0]
    assert "path/to/weebill/Snakefile" in shown
    text = shown.replace("path/to/weebill/Snakefile", "{snakefile}")
    code, output = run(f'configfile: "mine.yaml"\n{text}', "--until", "weebill_import_test_set")
    assert code == 0, output
    assert (tmp_path / "run/results/tiny/test_sets/tatoeba_test.parquet").exists()
