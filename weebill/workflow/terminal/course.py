"""Course of a run: running, finished and failed jobs, and their descriptions in displays."""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weebill.workflow.progress import Progress, read
from weebill.workflow.terminal.time_left import Known, time_left


@dataclass
class Job:
    """Job that Snakemake has started; since: its start by the monotonic clock."""

    number: int
    rule: str
    model: str
    logs: list[str]
    threads: int
    since: float = field(default_factory=time.monotonic)
    progress: Progress | None = None

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> "Job":
        """Make a job from Snakemake's event `job_info`."""
        wildcards = "/".join(map(str, message["wildcards"].values()))
        logs = list(message["log"])
        return cls(message["jobid"], message["rule_name"], wildcards, logs, message["threads"])

    @property
    def name(self) -> str:
        """Rule and wildcards, in words."""
        return f"{self.rule.replace('_', ' ')} {self.model}".rstrip()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.since

    def parts(self) -> tuple[str, str]:
        """Return progress and remaining time of the job, in words; the latter is "" if unknown."""
        if self.progress is None:
            return f"{duration(self.seconds)} so far", ""
        far = ", ".join(filter(None, [amount(self.progress), self.progress.notes]))
        left = self.progress.left
        return far, "" if left is None else f"{duration(left)} left"

    def state(self) -> str:
        """Return both `parts` in one text."""
        return ", ".join(filter(None, self.parts()))


@dataclass
class Course:
    """Course of a run.

    total: number of its jobs.  started: True after the start of the first job.  left: number of unfinished jobs by
    rule.  measured: seconds times threads of ended jobs, by rule.  cores: None on a cluster.
    """

    total: int = 0
    done: int = 0
    started: bool = False
    left: Counter[str] = field(default_factory=Counter)
    running: dict[int, Job] = field(default_factory=dict)
    failed: dict[int, Job] = field(default_factory=dict)
    measured: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cores: int | None = None
    since: float = field(default_factory=time.monotonic)

    def plan(self, stats: Mapping[str, int]) -> None:
        """Set the jobs to do, from Snakemake's event `run_info`."""
        self.left = Counter({rule: count for rule, count in stats.items() if rule != "total"})
        self.total, self.since = self.left.total(), time.monotonic()

    def begin(self, job: Job) -> None:
        """Record the start of a job, which may be another attempt."""
        self.failed.pop(job.number, None)
        self.running[job.number] = job

    def finish(self, number: int) -> Job | None:
        """Record the end of a job; return it if `begin` recorded it."""
        self.done += 1
        job = self.running.pop(number, None)
        if job is not None:
            self.left[job.rule] -= 1
            self.measured[job.rule].append(job.seconds * job.threads)
        return job

    def fail(self, job: Job) -> None:
        """Record the failure of a job."""
        self.running.pop(job.number, None)
        self.failed[job.number] = job

    def look(self) -> None:
        """Read the progress of running jobs; a job that has just ended keeps its last progress."""
        for job in self.running.values():
            if job.logs:
                job.progress = read(job.logs[0]) or job.progress

    def parts(self) -> tuple[str, str]:
        """Return progress and remaining time of the whole run, in words; the latter is "" if unknown."""
        ended = f"{self.done} of {count(self.total, 'job')} done"
        known = [
            Known(job.rule, job.threads, job.seconds, job.progress and job.progress.left)
            for job in self.running.values()
        ]
        seconds = time_left(self.left, self.measured, known, self.cores)
        left = "" if seconds is None else f"about {duration(seconds)} left"
        return f"{ended} in {duration(time.monotonic() - self.since)}", left

    def state(self) -> str:
        """Return both `parts` in one text."""
        return ", ".join(filter(None, self.parts()))


def duration(seconds: float) -> str:
    """Return a duration in words, with about two digits."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def clock() -> str:
    """Return the time of day."""
    return time.strftime("%H:%M:%S")


def count(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def amount(progress: Progress) -> str:
    """Return the number of finished units and of all units, in words."""
    total = "" if progress.total is None else f" of {progress.total:,}"
    return f"{progress.done:,}{total} {progress.unit}"
