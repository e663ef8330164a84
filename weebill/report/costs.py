"""Cost of a run's jobs: seconds and memory, from Snakemake's benchmarks."""

import csv
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

HOUR = 3600


@dataclass(frozen=True)
class Job:
    """Job of a run: rule, name among the rule's jobs ("" for an only job), seconds, and peak memory in MiB."""

    rule: str
    name: str
    seconds: float
    mib: float


def read_jobs(benchmarks: str | Path) -> list[Job]:
    """Read files BENCHMARKS/RULE.tsv, BENCHMARKS/RULE@NAME.tsv and BENCHMARKS/RULE/NAME.tsv.

    After / a name may have several parts; after @ it is that of a training text.
    """
    folder, jobs = Path(benchmarks), []
    for path in sorted(folder.rglob("*.tsv")):
        place = path.relative_to(folder).as_posix().removesuffix(".tsv")
        rule, _, name = place.partition("/" if "/" in place else "@")
        with path.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file, delimiter="\t"):
                numbers = (_number(line[key]) for key in ("s", "max_rss"))
                jobs.append(Job(rule, name, *numbers))
    return jobs


def _number(text: str) -> float:
    """Return a benchmark's number; jobs too short to be sampled have "-" or "NA"."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def hours(jobs: Iterable[Job], rules: Collection[str], names: Collection[str] = ()) -> float | None:
    """Return the hours of some rules' jobs, or only of those with the given names; None if there is no job."""
    found = [job.seconds for job in jobs if job.rule in rules and (not names or job.name in names)]
    return sum(found) / HOUR if found else None
