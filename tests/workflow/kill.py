"""Kill a run with SIGKILL at random moments, rerun, and compare with an undisturbed run, byte for byte.

python tests/workflow/kill.py --config config/demo.yaml --kills 5

Model files and tables must be equal, and the report whole; measured times, logs and the report, which shows
them, may differ.
Both runs write below a folder that is named at the start and removed after success.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.context import ForkProcess
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import yaml

from tests.forking import fork
from tests.workflow.running import (
    become_new_snakemake,
    become_snakemake,
    environment,
    fingerprints,
    report_is_whole,
    snakemake,
    snakemake_command,
)


def start(
    folder: Path, config: Path, *arguments: str, become: Callable[..., None] = become_snakemake
) -> ForkProcess:
    """Start a run whose process group can be killed; its output is appended to FOLDER/killed.log."""

    def run(output: int) -> None:
        os.setsid()
        become(output, *snakemake_command(folder, config, *arguments)[3:])

    with (folder / "killed.log").open("ab") as log:
        return fork(run, log.fileno(), **environment())


def kill(process: ForkProcess) -> None:
    """Kill a started run with all its jobs."""
    os.killpg(process.pid, signal.SIGKILL)
    process.join()


def interrupted_run(
    folder: Path,
    config: Path,
    delays: list[float],
    *arguments: str,
    become: Callable[..., None] = become_snakemake,
) -> subprocess.CompletedProcess:
    """Run, kill the run after each of `delays` seconds of work, and then let it finish.

    arguments: Snakemake's, in each run.  become: what a killed run is, as for `snakemake`.
    """
    for delay in delays:
        process = start(folder, config, "--quiet", "all", *arguments, become=become)
        process.join(delay)
        if process.exitcode is None:
            kill(process)
            print(f"killed after {delay:.1f} s", flush=True)
            unlocked = snakemake(folder, config, "--unlock")
            assert unlocked.returncode == 0, unlocked.stdout
    return snakemake(folder, config, "--rerun-incomplete", *arguments)


def differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return the files that only one of two results has, or that differ."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def main() -> int:
    """Run undisturbed, run with kills, compare; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
    arguments = parser.parse_args()
    config = arguments.config.resolve()
    experiment = yaml.safe_load(config.read_text())["experiment"]
    place = Path(tempfile.mkdtemp(prefix="weebill-kill-"))
    calm, killed = place / "undisturbed", place / "killed"
    calm.mkdir(), killed.mkdir()
    print(f"both runs go below {place}", flush=True)

    started = time.monotonic()
    cores = ["--cores", str(arguments.cores)]
    run = snakemake(calm, config, *cores, become=become_new_snakemake)
    assert run.returncode == 0, run.stdout
    seconds = time.monotonic() - started
    print(f"undisturbed run: {seconds:.0f} s", flush=True)

    # Moments are cumulative and spread over the whole run: each stretch makes progress before its kill.
    chance = random.Random(arguments.seed)
    moments = sorted(chance.uniform(0.02, 0.98) * seconds for _ in range(arguments.kills))
    delays = [late - early for early, late in zip([0.0, *moments], moments, strict=False)]
    delays = [max(2.0, delay) for delay in delays]
    run = interrupted_run(killed, config, delays, *cores, become=become_new_snakemake)
    assert run.returncode == 0, run.stdout
    assert report_is_whole(killed / "results" / experiment), "the killed run has no whole report"

    expected = fingerprints(calm / "results" / experiment)
    differing = differences(expected, fingerprints(killed / "results" / experiment))
    if differing:
        print("\n".join(["these files differ:", *differing]))
        return 1
    print(f"{arguments.kills} kills: all {len(expected)} files equal, byte for byte")
    shutil.rmtree(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
