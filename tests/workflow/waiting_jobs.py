"""Runs with jobs that never end, killed while the jobs start."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil

# Like the project's Snakefile, it announces its process; it also starts a script of another environment.
SNAKEFILE = """
import sys
from weebill.workflow.parent_watch import announce_snakemake
announce_snakemake()
rule all:
    input: "never", "never.too"
rule shell:
    output: "never.too"
    log: "logs/shell.log"
    shell: "{sys.executable} wait.py --log {log}"
rule wait:
    output: "never"
    log: "wait.log"
    script: "wait.py"
"""
SCRIPT = """
from weebill.workflow.job import job
import os, sys, time
from pathlib import Path
log = "wait.log" if "snakemake" in globals() else sys.argv[2]
Path(f"{Path(log).stem}.loading").touch()
time.sleep(1.5)  # as torch is imported
with job(log):
    Path(f"{Path(log).stem}.working").touch()
    time.sleep(600)
"""


class Run:
    """A Snakemake run with jobs that wait for ever."""

    def __init__(self, folder: Path):
        folder.mkdir()
        (folder / "Snakefile").write_text(SNAKEFILE)
        (folder / "wait.py").write_text(SCRIPT)
        self.folder = folder
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "all"]
        self.process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)

    def jobs(self) -> int:
        """Return the number of the run's jobs whose process has started."""
        found = psutil.Process(self.process.pid).children(recursive=True)
        return sum(any("wait.py" in word for word in _words(one)) for one in found)

    def state(self) -> str:
        """Return how far the jobs have come."""
        for file, state in (("working", "at work"), ("loading", "importing")):
            if [*self.folder.rglob(f"*.{file}")]:
                return state
        return "starting" if self.jobs() else "before any job"

    def kill(self) -> None:
        """Kill Snakemake alone."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
