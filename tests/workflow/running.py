"""Runs of the workflow from tests: Snakemake in a folder of its own, and the files that a run left."""

import os
import subprocess
import sys
from pathlib import Path

from weebill.files import sha256_file

REPOSITORY = Path(__file__).parents[2]
TINY = Path(__file__).with_name("tiny.yaml")
CONFIGURATIONS = sorted(
    path for path in (REPOSITORY / "config").glob("*.yaml") if path.name != "models.yaml"
)
# Files that differ between equal runs: measured times, logs of jobs, and the pages that show both.
TIMED = (
    "benchmarks/",
    "evaluation/engines.json",
    "evaluation/gpu_speed.json",
    "evaluation/latency.json",
    "evaluation/speed.json",
    "figures/speed/",
    "logs/",
    "pruning.md",
    "report.html",
    "summary.md",
    "tables/speed/",
)


def snakemake_command(folder: Path, config: Path, *arguments: str) -> list[str]:
    """Return the command that runs the workflow with a configuration, with results below `folder`."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile")]
    command += ["--workflow-profile", str(REPOSITORY / "profiles/local")]
    return [*command, "--directory", str(folder), "--configfile", str(config), *arguments]


def environment() -> dict[str, str]:
    """Return the environment with one thread per job, so that parallel tests do not compete for the cores."""
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def snakemake(folder: Path, config: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run the workflow to its end, or its error; `.stdout` has stdout and stderr together."""
    return subprocess.run(
        snakemake_command(folder, config, *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(),
    )


def report_is_whole(results: Path) -> bool:
    """Return True if a results folder has its whole report, to the last tag, and no half-made one."""
    report = results / "report.html"
    whole = report.exists() and report.read_text(encoding="utf-8").rstrip().endswith("</html>")
    return whole and not list(results.glob("*.partial*"))


def fingerprints(results: Path) -> dict[str, str]:
    """Return SHA-256 by path of every file of a results folder that equal runs must make equal."""
    paths = {path.relative_to(results).as_posix(): path for path in results.rglob("*")}
    return {
        name: sha256_file(path)
        for name, path in sorted(paths.items())
        if path.is_file() and not name.startswith(TIMED)
    }
