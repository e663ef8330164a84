"""A generation experiment with tiny models of texts about birds runs to its report."""

import csv
import json
import subprocess
import sys

import pytest

from tests.forking import fork_workers
from tests.workflow.running import REPOSITORY, environment, report_is_whole, snakemake
from tests.workflow.small_runs import SMALLER, generation_experiment, write_experiment
from weebill.files import read_json
from weebill.generation.models import model_hash

pytestmark = pytest.mark.workflows
IMPORTED = ["altair", "weebill.generation.steps"]  # most jobs import these
FRESH = """
import json, sys
from pathlib import Path
from weebill.generation.data import read_part
from weebill.generation.models import load_generator, summarize
from weebill.generation.settings import SearchSettings

articles = [row["article"] for row in read_part(Path(sys.argv[2]), "test")]
search = SearchSettings(beam=2, max_tokens=12)
print(json.dumps(summarize(load_generator(sys.argv[1]), articles, search, 48)))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return the results folder of a finished run."""
    folder = tmp_path_factory.mktemp("generation")
    config = write_experiment(folder / "small.yaml", generation_experiment(folder))
    with pytest.MonkeyPatch.context() as change:
        fork_workers(change)
        done = snakemake(folder, config, "--cores", "2", imported=IMPORTED)
    assert done.returncode == 0, done.stdout
    return folder / "results/small"


def test_the_report_is_whole(results):
    assert report_is_whole(results)
    page = (results / "summary.md").read_text(encoding="utf-8")
    assert "`bart/distilled/pruned/int8`" in page
    with (results / "tables/generation_summarization.csv").open(encoding="utf-8") as file:
        lead, *rows = csv.DictReader(file)
    assert lead["variant"] == "bart: lead" and not lead["mib"]
    assert len(rows) == 4
    mib = [float(row["mib"].split()[0]) for row in rows]
    assert mib[0] == mib[3] > mib[1] > mib[2]
    with (results / "tables/generation_controls_summarization.csv").open(encoding="utf-8") as file:
        controls = {row["variant"]: row["control"] for row in csv.DictReader(file)}
    made = ("bart/distilled/pruned", "bart/distilled/pruned/int8")
    assert controls == dict.fromkeys(made, "bart/distilled/as-long")


def test_every_step_names_the_one_before(results):
    folder = results / "models/bart"
    for step in SMALLER:
        parent, folder = folder, folder / step
        lineage = read_json(folder / "model/config.json")["lineage"]
        assert lineage["parent"] == model_hash(parent / "model")
    record = read_json(results / "models/bart/distilled/pruned/pruning.json")
    assert record["schedule"][-1]["heads"] == 0.25  # one of 4


def test_a_cut_int8_model_writes_the_same_in_a_fresh_process(results):
    variant = f"bart/{'/'.join(SMALLER)}"
    said = (results / f"evaluation/summaries/{variant}.jsonl").read_text(encoding="utf-8")
    model, data = results / "models" / variant / "model", results / "data/news"
    done = subprocess.run(
        [sys.executable, "-c", FRESH, model, data],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=REPOSITORY,
        env=environment(),
    )
    assert json.loads(done.stdout) == [json.loads(line) for line in said.splitlines()]
