"""Running the workflow from tests: Snakemake in a folder of its own, and what a run left behind."""

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
# What differs between equal runs: measured times, what jobs said, and the pages that show both.
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
    """The command that runs the workflow with a configuration, its results going below `folder`."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile")]
    command += ["--workflow-profile", str(REPOSITORY / "profiles/local")]
    return [*command, "--directory", str(folder), "--configfile", str(config), *arguments]


def environment() -> dict[str, str]:
    """One thread a job, so that tests which run side by side do not fight for the cores."""
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def snakemake(folder: Path, config: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run the workflow to its end, or its error; stdout and stderr together in `.stdout`."""
    return subprocess.run(
        snakemake_command(folder, config, *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(),
    )


def report_is_whole(results: Path) -> bool:
    """Whether a results folder has its report, to the last tag, and nothing half-made beside it."""
    report = results / "report.html"
    whole = report.exists() and report.read_text(encoding="utf-8").rstrip().endswith("</html>")
    return whole and not list(results.glob("*.partial*"))


def fingerprints(results: Path) -> dict[str, str]:
    """SHA-256 of every file below a results folder that equal runs must make equal, by its path."""
    paths = {path.relative_to(results).as_posix(): path for path in results.rglob("*")}
    return {
        name: sha256_file(path)
        for name, path in sorted(paths.items())
        if path.is_file() and not name.startswith(TIMED)
    }
