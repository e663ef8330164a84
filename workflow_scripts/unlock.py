"""Remove the lock that a killed Snakemake left in this folder, unless a Snakemake still runs here."""

import subprocess
import sys
from pathlib import Path

import psutil


def living_snakemake(folder: Path) -> psutil.Process | None:
    """Return a Snakemake process that runs in `folder`, or None."""
    for process in psutil.process_iter():
        try:
            words = process.cmdline()[:3]
            if any(Path(w).name == "snakemake" for w in words) and process.cwd() == str(folder):
                return process
        except psutil.Error:  # the process has ended, or belongs to another user
            continue
    return None


if any(Path(".snakemake/locks").glob("*.lock")):
    alive = living_snakemake(Path.cwd())
    if alive:
        sys.exit(f"Snakemake runs here already (process {alive.pid}); wait for it, or end it")
    subprocess.run([sys.executable, "-m", "snakemake", "--unlock", "--quiet", "all"], check=True)
