"""Table of the time and memory of a run's jobs, by rule."""

from collections.abc import Iterable

from weebill.report.costs import Job
from weebill.report.table import Column, Row, Table, fixed


def run_time_table(jobs: Iterable[Job]) -> Table:
    """Return jobs, minutes and peak memory of each rule, the longest first."""
    rules: dict[str, list[Job]] = {}
    for job in jobs:
        rules.setdefault(job.rule, []).append(job)
    longest_first = sorted(rules.items(), key=lambda item: -sum(job.seconds for job in item[1]))
    rows = [Row.of(_texts(rule, some)) for rule, some in longest_first]
    if everything := [job for some in rules.values() for job in some]:
        rows.append(Row.of(_texts("all rules", everything), baseline=True))
    return Table(
        "run_time",
        "Run time",
        "Time and memory of the jobs of each rule, the longest first.",
        (
            Column("rule", "Rule", numeric=False),
            Column("jobs", "Jobs"),
            Column("minutes", "Minutes"),
            Column("longest_minutes", "Longest job, minutes"),
            Column("peak_mib", "Peak memory, MiB"),
        ),
        rows,
        (
            "Minutes are summed over jobs, some of which ran side by side. A job that was stopped and "
            "continued counts from its last start. Jobs of models that the configuration no longer names count as "
            "long as their files are in `benchmarks/`.",
        ),
    )


def _texts(name: str, jobs: list[Job]) -> list[str]:
    seconds = [job.seconds for job in jobs]
    minutes = (fixed(value / 60, 1) for value in (sum(seconds), max(seconds)))
    return [name, str(len(jobs)), *minutes, fixed(max(job.mib for job in jobs) or None, 0)]
