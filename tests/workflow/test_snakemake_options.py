"""Ways to call Snakemake: forms of configuration files, other folders, and options."""

import json
import os
from pathlib import Path

import pytest
import yaml

from tests.workflow.running import REPOSITORY, TINY, fingerprints, run_snakemake, snakemake
from weebill.corpus.table import count_rows

pytestmark = pytest.mark.workflows
TEXT = TINY.read_text("utf-8")
TABLE = "results/tiny/test_sets/tatoeba_test.parquet"
# A dry run of one rule, which is enough to read the whole configuration.
BRIEF = ("--cores", "1", "--dry-run", "--until", "import_test_set")
SNAKEFILE = ("--snakefile", str(REPOSITORY / "Snakefile"))


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", json.dumps(yaml.safe_load(TEXT)).encode()),
        ("lines.yaml", TEXT.replace("\n", "\r\n").encode()),
        ("mark.yaml", b"\xef\xbb\xbf" + TEXT.encode()),
        ("my config (1).yaml", TEXT.encode()),
    ],
)
def test_forms_of_a_configuration_file(here, name, content):
    (here / name).write_bytes(content)
    run = run_snakemake(*SNAKEFILE, *BRIEF, "--configfile", name)
    assert run.returncode == 0 and "import_test_set" in run.stdout, run.stdout


def test_a_later_configuration_file_and_config_win(here):
    Path("more.yaml").write_text("{experiment: other, seed: 9}\n")
    both = ("--configfile", str(TINY), "more.yaml")
    run = run_snakemake(*SNAKEFILE, *BRIEF, *both, "--config", "experiment=third")
    assert run.returncode == 0, run.stdout
    assert "results/third: an estimate" in run.stdout and "results/tiny" not in run.stdout


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("seed=abc", "seed: "),
        ("sead=3", "did you mean 'seed'?"),
        ("experiment=two words", "experiment: "),
        ("experiment=../x", "experiment: "),
    ],
)
def test_a_bad_setting_of_the_command_line_is_one_line(here, setting, message):
    run = run_snakemake(*SNAKEFILE, *BRIEF, "--configfile", str(TINY), "--config", setting)
    (line,) = [line for line in run.stdout.splitlines() if message in line]
    assert run.returncode == 1 and "Traceback" not in run.stdout
    assert line.startswith(f"{TINY}: ")


def test_a_missing_configuration_file_is_one_line(here):
    run = run_snakemake(*SNAKEFILE, *BRIEF)  # default: config/demo.yaml in this folder
    assert run.returncode == 1 and "Traceback" not in run.stdout
    assert len([line for line in run.stdout.splitlines() if "config/demo.yaml" in line]) == 1


def test_it_runs_from_elsewhere_into_a_folder_with_a_link_for_results(here):
    """The Snakefile has a relative path, and the folder's name ends with a slash."""
    (here / "scratch").mkdir()
    (here / "work").mkdir()
    (here / "work/results").symlink_to(here / "scratch")
    snakefile = os.path.relpath(REPOSITORY / "Snakefile", here)
    options = ("--configfile", str(TINY), "--cores", "1", "--until", "import_test_set")
    run = run_snakemake("-s", snakefile, "--directory", "work/", *options)
    assert run.returncode == 0, run.stdout
    assert count_rows(here / "scratch/tiny/test_sets/tatoeba_test.parquet") > 0


def test_the_catalogues_test_runs(here):
    """`snakemake --directory .test` reads the configuration in .test, which is the tiny one of these tests."""
    linked = REPOSITORY / ".test/config/demo.yaml"
    assert linked.samefile(TINY) and not linked.readlink().is_absolute()
    (here / "config").mkdir()
    (here / "config/demo.yaml").symlink_to(linked)
    run = run_snakemake(
        *SNAKEFILE, "--directory", ".", "--cores", "1", "--until", "import_test_set"
    )
    assert run.returncode == 0 and Path(TABLE).exists(), run.stdout


def test_the_catalogues_file_says_how_to_run():
    content = yaml.safe_load((REPOSITORY / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert content.keys() == {"mandatory-flags", "software-stack-deployment", "report"}
    assert content["mandatory-flags"].keys() == {"desc", "flags"}
    ways = content["software-stack-deployment"]
    assert ways.keys() == {"conda", "apptainer", "apptainer+conda"}
    assert {type(value) for value in (*ways.values(), content["report"])} == {bool}
    assert (REPOSITORY / "config/README.md").exists()
    # `snakedeploy` names this configuration in the workflow that it writes.
    assert (REPOSITORY / "config/config.yml").samefile(REPOSITORY / "config/demo.yaml")


@pytest.mark.parametrize("option", ["--list-rules", "--summary", "--rulegraph"])
def test_options_that_only_show(here, option):
    run = run_snakemake(*SNAKEFILE, "--configfile", str(TINY), option)
    assert run.returncode == 0 and "Traceback" not in run.stdout
    assert "import_test_set" in run.stdout


def test_until_a_rule_ends_with_its_outputs(here):
    until = ("--cores", "1", "--until", "clean_corpus")
    run = snakemake(here, TINY, *until)
    assert run.returncode == 0, run.stdout
    assert (here / "results/tiny/corpora/tatoeba/cleaned").is_dir()
    again = snakemake(here, TINY, *until)
    assert again.returncode == 0 and "clean corpus" not in again.stdout, again.stdout
    touched = snakemake(here, TINY, *until, "--touch")
    assert touched.returncode == 0, touched.stdout
    made = fingerprints(here / "results/tiny")
    forced = snakemake(here, TINY, *until, "--forcerun", "clean_corpus")
    assert forced.returncode == 0 and "clean corpus" in forced.stdout, forced.stdout
    assert fingerprints(here / "results/tiny") == made
