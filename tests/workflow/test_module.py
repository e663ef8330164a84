"""The workflow as a module of another one in a folder of its own: `module` and `use rule *`."""

import pytest
import yaml

from tests.workflow.running import REPOSITORY, TINY, run_snakemake
from weebill.corpus.table import count_rows

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
    "shared": """
module other:
    snakefile: "{snakefile}"
    config: config
use rule * from other as other_*
""",
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs Snakemake on an importing workflow/Snakefile in run/: exit code and all output."""
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
    for rule in ("all", "import_corpus", "train_student", "report_page"):
        assert f"\n{prefix}{rule} " in output
    assert "results/tiny: an estimate for a run from nothing on" in output


def test_a_job_runs(run, tmp_path):
    """Its script is found, and reads the module's own configuration."""
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
