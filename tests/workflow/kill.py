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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import yaml

from tests.workflow.running import (
    environment,
    fingerprints,
    report_is_whole,
    snakemake,
    snakemake_afresh,
    snakemake_command,
)


def run_and_kill(folder: Path, config: Path, after: float, *arguments: str) -> bool:
    """Start a run and kill its whole process group after some seconds; return False if it ended before."""
    command = snakemake_command(folder, config, "--quiet", "all", *arguments)
    log = (folder / "killed.log").open("ab")
    process = subprocess.Popen(
        command, stdout=log, stderr=log, env=environment(), start_new_session=True
    )
    try:
        process.wait(timeout=after)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True


def interrupted_run(
    folder: Path, config: Path, delays: list[float], *arguments: str
) -> subprocess.CompletedProcess:
    """Run, kill the run after each of `delays` seconds of work, and then let it finish.

    arguments: Snakemake's, in each run.
    """
    for delay in delays:
        if run_and_kill(folder, config, delay, *arguments):
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
    run = snakemake_afresh(calm, config, "--cores", str(arguments.cores))
    assert run.returncode == 0, run.stdout
    seconds = time.monotonic() - started
    print(f"undisturbed run: {seconds:.0f} s", flush=True)

    # Moments are cumulative and spread over the whole run: each stretch makes progress before its kill.
    chance = random.Random(arguments.seed)
    moments = sorted(chance.uniform(0.02, 0.98) * seconds for _ in range(arguments.kills))
    delays = [late - early for early, late in zip([0.0, *moments], moments, strict=False)]
    delays = [max(2.0, delay) for delay in delays]
    run = interrupted_run(killed, config, delays, "--cores", str(arguments.cores))
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
