"""Part of the demo on a real Slurm on this machine: a killed job is resubmitted, and results are equal."""

import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
import yaml

from tests.workflow import slurm
from tests.workflow.interruptions import differences
from tests.workflow.running import (
    REPOSITORY,
    TINY,
    environment,
    fingerprints,
    snakemake,
    snakemake_command,
)

TARGET = "results/tiny/distilled/training.parquet"
LIMIT = 900  # seconds: a run takes one or two minutes on an idle machine
QUICKLY = {
    "slurm": ["--slurm-init-seconds-before-status-checks", "1"],
    "cluster-generic": ["--seconds-between-status-checks", "1"],
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Return the folder of a running Slurm's logs."""
    folder = tmp_path_factory.mktemp("slurm")
    with slurm.running_slurm(folder):
        yield folder


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> Path:
    """Write the smallest experiment with the demo's stages, from corpora to distilled text."""
    config = yaml.safe_load(TINY.read_text())
    config["corpora"] = {"tatoeba": {"importer": "tatoeba", "pairs": 300}}
    del config["cleaning"]["language_id"]
    config["teacher"]["members"] = 1
    config["teacher"]["training"] |= {"updates": 60, "validate_every": 60}
    path = tmp_path_factory.mktemp("config") / "slurm.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


@pytest.fixture(scope="module")
def undisturbed(config, tmp_path_factory) -> Path:
    """Return the results of a run on this machine without Slurm."""
    folder = tmp_path_factory.mktemp("undisturbed")
    run = snakemake(folder, config, "--cores", "2", TARGET)
    assert run.returncode == 0, run.stdout
    return folder / "results"


def in_training(results: Path) -> bool:
    """Return True if the teacher has its first checkpoint."""
    return any(results.glob("teacher/*.work/checkpoints/*.ckpt"))


def in_translation(results: Path) -> bool:
    """Return True if a shard's translation has begun."""
    return any(results.glob("distilled/tatoeba/shard-0.parquet.work/identity.json"))


def kill_job(log: str) -> None:
    """Kill the job that writes a log by `kill -9`, as a node does that is out of memory."""
    for process in psutil.process_iter():
        try:
            if any(Path(file.path).match(log) for file in process.open_files()):
                process.send_signal(signal.SIGKILL)
                return
        except psutil.Error:
            continue
    raise AssertionError(f"no process writes {log}")


def run_on(profile: str, folder: Path, config: Path, when: Callable[[Path], bool], log: str) -> str:
    """Run on the cluster and kill one job as soon as `when` is true; return Snakemake's output."""
    command = snakemake_command(folder, config, *QUICKLY[profile], "--latency-wait", "10")
    command += ["--workflow-profile", str(REPOSITORY / "profiles" / profile), "--", TARGET]
    said, limit = folder / "snakemake.log", time.monotonic() + LIMIT
    with said.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=environment(), cwd=folder
        )
        try:
            while not when(folder / "results/tiny"):
                assert process.poll() is None, said.read_text()
                assert time.monotonic() < limit, said.read_text()
                time.sleep(0.02)
            kill_job(log)
            process.wait(timeout=limit - time.monotonic())
        finally:
            process.kill()
            process.wait()
    return said.read_text()


def submissions(rule: str) -> list[tuple[int, int]]:
    """Return (memory in MiB, time limit in minutes) of every job of a rule that Slurm remembers, in order."""
    answer = subprocess.run(
        ["scontrol", "--oneliner", "show", "jobs"], capture_output=True, text=True, check=True
    ).stdout
    found = []
    for line in answer.splitlines():
        values = dict(re.findall(r"(\w+)=(\S*)", line))
        if values["JobName"] == rule or values.get("Comment", "").startswith(f"rule_{rule}"):
            memory, unit = re.fullmatch(r"(\d+)([MG])", values["MinMemoryNode"]).groups()
            days, hours, minutes = re.fullmatch(
                r"(?:(\d+)-)?(\d+):(\d+):\d+", values["TimeLimit"]
            ).groups(default="0")
            limit = (int(days) * 24 + int(hours)) * 60 + int(minutes)
            mebibytes = int(memory) * (1024 if unit == "G" else 1)
            found.append((int(values["JobId"]), mebibytes, limit))
    return [values[1:] for values in sorted(found)]


def check_run(
    profile: str,
    rule: str,
    when: Callable[[Path], bool],
    log: str,
    folder: Path,
    config: Path,
    undisturbed: Path,
    cluster: Path,
) -> None:
    """Check that a run with a killed job of `rule` gives equal results, and that the next attempt asks for more."""
    module = f"snakemake_executor_plugin_{profile.replace('-', '_')}"
    if find_spec(module) is None:
        pytest.skip(f"{module} is not here; run `make setup`")
    try:
        said = run_on(profile, folder, config, when, f"results/tiny/logs/{log}")
        assert "Trying to restart job" in said
        assert (folder / TARGET).exists()
        equal = fingerprints(undisturbed / "tiny"), fingerprints(folder / "results/tiny")
        assert differences(*equal) == []
        (memory, minutes), *_, (more_memory, more_minutes) = submissions(rule)
        assert (more_memory, more_minutes) == (2 * memory, 2 * minutes)
    except AssertionError:
        print((folder / "snakemake.log").read_text(), slurm.logs(cluster), sep="\n")
        raise


@pytest.mark.slurm
@pytest.mark.timeout(LIMIT + 300)
def test_a_killed_training_is_submitted_again_and_goes_on(tmp_path, cluster, config, undisturbed):
    """The run with profile `slurm` starts from cleaned corpora: its executor queries jobs less and less often."""
    shutil.copytree(undisturbed, tmp_path / "results")
    for made in ("teacher", "distilled"):
        shutil.rmtree(tmp_path / "results/tiny" / made)
    place, log = (tmp_path, config, undisturbed, cluster), "train_teacher/0.log"
    (tmp_path / "results/tiny/logs" / log).unlink()
    check_run("slurm", "train_teacher", in_training, log, *place)
    assert "continuing at update" in (tmp_path / "results/tiny/logs" / log).read_text()


@pytest.mark.slurm
@pytest.mark.timeout(LIMIT + 300)
def test_a_killed_translation_is_submitted_again(tmp_path, cluster, config, undisturbed):
    """The run with profile `cluster-generic` starts from the beginning."""
    log = "translate_shard/tatoeba.0.log"
    place = (tmp_path, config, undisturbed, cluster)
    check_run("cluster-generic", "translate_shard", in_translation, log, *place)
