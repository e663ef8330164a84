"""Rules in a run of the workflow, from Snakemake's dry run."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from weebill.errors import InputError

ROW = re.compile(r"^(\w+) +(\d+)$")
FIRST, LAST = "job", "total"  # lines of Snakemake's table of jobs
NOT_RULES = ("all",)
SHOWN = 20  # lines that are shown of a failed dry run


def snakemake(config: Path, snakefile: Path, *options: str) -> list[str]:
    """Return the command that runs the workflow with a configuration."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile)]
    return [*command, "--configfile", str(config), *options]


def jobs_by_rule(config: Path, snakefile: Path) -> dict[str, int]:
    """Return the number of jobs of each rule in a run from the start.  Raises InputError if the dry run fails."""
    command = snakemake(
        config, snakefile, "--dry-run", "--forceall", "--nocolor", "--quiet", "rules"
    )
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    found = read_table(done.stdout.splitlines())
    if done.returncode or not found:
        said = (done.stdout + done.stderr).splitlines()[-SHOWN:]
        raise InputError("\n".join([f"{config}: a dry run fails:", *said]))
    return found


def read_table(lines: Sequence[str]) -> dict[str, int]:
    """Read the number of jobs by rule from Snakemake's first table of jobs."""
    found: dict[str, int] = {}
    inside = False
    for line in lines:
        if line.split()[:1] == [FIRST]:
            inside = True
        elif inside and (row := ROW.match(line)):
            if row[1] == LAST:
                break
            found[row[1]] = int(row[2])
    return {rule: count for rule, count in found.items() if rule not in NOT_RULES}
