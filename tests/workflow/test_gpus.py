"""Jobs share the GPUs of a machine: each takes cards of its own, even if other jobs are killed."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.workflow.running import REPOSITORY, become_new_snakemake, run_snakemake
from weebill.errors import InputError
from weebill.workflow import gpus

EIGHT = ",".join(map(str, range(8)))
# A job: it imports what every script imports first, prints the cards that it sees, and waits to be ended.
JOB = """
import json, os, sys, time
from pathlib import Path
from types import SimpleNamespace

given, count = Path(sys.argv[1]), int(sys.argv[2])
snakemake = SimpleNamespace(resources={"gpu": count})
from weebill.workflow.parent_watch import announce_snakemake
announce_snakemake()
import weebill.workflow.job

assert "torch" not in sys.modules
partial = given.with_suffix(".partial")
partial.write_text(json.dumps([os.environ.get("CUDA_VISIBLE_DEVICES"), time.time()]))
partial.replace(given)
while not given.with_suffix(".end").exists():
    time.sleep(0.02)
"""


# A rule with two cards and a rule without cards, as Snakemake passes them to their scripts.
RULES = """
from weebill.workflow.parent_watch import announce_snakemake

announce_snakemake()

rule all:
    input: "two.txt", "none.txt"

rule two:
    output: "two.txt"
    log: "two.log"
    resources: gpu=2
    script: "cards.py"

rule none:
    output: "none.txt"
    log: "none.log"
    script: "cards.py"
"""
SCRIPT = """
from weebill.workflow.job import job

import os
from pathlib import Path

with job(snakemake.log[0]):
    Path(snakemake.output[0]).write_text(os.environ.get("CUDA_VISIBLE_DEVICES", "unset"))
"""


class Jobs:
    """Jobs that run until they are ended or killed."""

    def __init__(self, folder: Path, **variables: str):
        kept = {name: value for name, value in os.environ.items() if name not in gpus.SCHEDULERS}
        kept.pop(gpus.VISIBLE, None)
        locks = {gpus.FOLDER: str(folder / "locks"), "PYTHONPATH": str(REPOSITORY)}
        self.folder, self.environment = folder, {**kept, **locks, **variables}
        self.processes: dict[str, subprocess.Popen] = {}

    def start(self, name: str, count: int = 1) -> None:
        command = [sys.executable, "-c", JOB, str(self.folder / f"{name}.cards"), str(count)]
        self.processes[name] = subprocess.Popen(command, env=self.environment)

    def cards(self, name: str) -> list[str] | None:
        """Return the cards of a job; None if it has none yet."""
        path = self.folder / f"{name}.cards"
        return json.loads(path.read_text())[0].split(",") if path.exists() else None

    def wait_for(self, count: int, seconds: float = 60) -> dict[str, list[str]]:
        """Wait until `count` running jobs have their cards; return the cards of each."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = {name: self.cards(name) for name in self.processes}
            found = {name: cards for name, cards in found.items() if cards}
            if len(found) >= count:
                return found
            time.sleep(0.02)
        raise AssertionError(f"only {len(found)} of {count} jobs have cards: {found}")

    def end(self, name: str, kill: bool = False) -> None:
        process = self.processes.pop(name)
        if kill:
            process.send_signal(signal.SIGKILL)
        else:
            (self.folder / f"{name}.end").touch()
        process.wait(30)


@pytest.fixture
def jobs(tmp_path):
    made = Jobs(tmp_path, WEEBILL_GPUS=EIGHT)
    yield made
    for process in made.processes.values():
        process.kill()
        process.wait()


def test_sixteen_jobs_take_turns_on_eight_cards_and_kills_return_theirs(jobs):
    names = [f"job{number}" for number in range(16)]
    for name in names:
        jobs.start(name)
    first = jobs.wait_for(8)
    time.sleep(2 * gpus.PERIOD)
    first = jobs.wait_for(8)
    assert Counter(card for cards in first.values() for card in cards) == Counter(EIGHT.split(","))
    for number, name in enumerate(first):  # kill half of them
        jobs.end(name, kill=number % 2 == 0)
    second = jobs.wait_for(8)
    assert not first.keys() & second.keys()
    assert Counter(card for cards in second.values() for card in cards) == Counter(EIGHT.split(","))


def test_a_training_on_several_cards_gets_all_at_once(jobs):
    jobs.start("one")
    jobs.wait_for(1)
    jobs.start("four", 4)
    jobs.start("three", 3)
    found = jobs.wait_for(3)
    assert len({card for cards in found.values() for card in cards}) == 8
    jobs.start("two", 2)
    jobs.end("one")  # one free card is not enough
    time.sleep(2 * gpus.PERIOD)
    assert jobs.cards("two") is None
    jobs.end("three", kill=True)
    assert len(set(jobs.wait_for(2)["two"])) == 2


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return a function that sets the environment of this process, which holds no cards."""
    for name in (gpus.CHOICE, gpus.VISIBLE, gpus.TAKEN, gpus.SUBMITTED, *gpus.SCHEDULERS):
        monkeypatch.setenv(name, "")  # pytest restores it, even if the code sets it
        monkeypatch.delenv(name)
    monkeypatch.setenv(gpus.FOLDER, str(tmp_path / "locks"))
    monkeypatch.setattr(gpus, "_held", held := [])

    def change(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    yield change
    for lock in held:
        os.close(lock)


def test_chooses_among_the_cards_that_are_given(machine):
    machine(CUDA_VISIBLE_DEVICES="5,GPU-7a")
    assert gpus.take_gpus(2) == ["5", "GPU-7a"]
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "5,GPU-7a"


def test_processes_of_a_job_keep_its_cards(machine):
    """Other ranks of a training import the same script again."""
    machine(WEEBILL_GPUS="0,1")
    assert gpus.take_gpus(1) == ["0"]
    assert gpus.take_gpus(1) == [] and os.environ["CUDA_VISIBLE_DEVICES"] == "0"


def test_a_card_that_is_named_twice_serves_two_jobs_evenly(machine, monkeypatch):
    machine(WEEBILL_GPUS="0,0,1,1")
    taken = []
    for _ in range(4):
        taken += gpus.take_gpus(1)
        monkeypatch.delenv(gpus.TAKEN)
    assert taken == ["0", "1", "0", "1"]
    with pytest.raises(InputError, match="needs 3 GPUs, and there are 2 here"):
        gpus.take_gpus(3)


@pytest.mark.parametrize("name", ["SLURM_JOB_ID", "PBS_JOBID"])
def test_a_scheduler_chooses_its_jobs_cards(machine, name):
    machine(**{name: "17", "CUDA_VISIBLE_DEVICES": "0", gpus.SUBMITTED: "1"})
    assert gpus.take_gpus(1) == [] and gpus.TAKEN not in os.environ


def test_jobs_of_a_run_in_an_allocation_share_its_cards(machine, monkeypatch, tmp_path):
    """Another allocation may give the same numbers to other cards, so it has locks of its own."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv(gpus.FOLDER)
    taken = []
    for allocation in ("17", "17", "18"):
        machine(SLURM_JOB_ID=allocation, CUDA_VISIBLE_DEVICES="0,1")
        taken += gpus.take_gpus(1)
        monkeypatch.delenv(gpus.TAKEN)
    assert taken == ["0", "1", "0"]


def test_no_card_no_lock(machine, monkeypatch):
    machine(CUDA_VISIBLE_DEVICES="")
    assert gpus.take_gpus(1) == [] and gpus.take_gpus(0) == []
    assert gpus.VISIBLE in os.environ and not os.environ[gpus.VISIBLE]


def test_counts_the_cards_by_the_driver(machine, monkeypatch):
    class Library:
        """Stand-in for the driver's library, on a machine with three cards."""

        def nvmlInit_v2(self):
            return 0

        def nvmlDeviceGetCount_v2(self, count):
            count._obj.value = 3
            return 0

        def nvmlShutdown(self):
            return 0

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    assert gpus.known_gpus() == ["0", "1", "2"]


@pytest.mark.workflows
def test_a_rules_resources_are_the_cards_of_its_script(tmp_path, machine):
    machine(WEEBILL_GPUS="4,5,6")
    (tmp_path / "Snakefile").write_text(RULES, encoding="utf-8")
    (tmp_path / "cards.py").write_text(SCRIPT, encoding="utf-8")
    options = ["--snakefile", str(tmp_path / "Snakefile"), "--directory", str(tmp_path)]
    options += ["--cores", "2", "--scheduler", "greedy"]
    done = run_snakemake(*options, become=become_new_snakemake)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "two.txt").read_text() == "4,5"
    assert (tmp_path / "none.txt").read_text() == "unset"
