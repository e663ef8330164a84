"""Table of the cost of a run: time and memory of every rule, from Snakemake's benchmark files."""

import csv
from pathlib import Path

from weebill.report.table import Column, Row, Table, fixed


def run_time_table(benchmarks: str | Path) -> Table:
    """Return jobs, minutes and peak memory of each rule, from files BENCHMARKS/RULE.tsv and BENCHMARKS/RULE/….tsv."""
    folder = Path(benchmarks)
    rules: dict[str, list[tuple[float, float]]] = {}
    for path in sorted(folder.rglob("*.tsv")):
        parts = path.relative_to(folder).parts
        rule = parts[0] if len(parts) > 1 else path.stem
        with path.open(encoding="utf-8", newline="") as file:
            for job in csv.DictReader(file, delimiter="\t"):
                rules.setdefault(rule, []).append((_number(job["s"]), _number(job["max_rss"])))
    longest_first = sorted(rules.items(), key=lambda item: -sum(s for s, _ in item[1]))
    rows = [Row.of(_texts(rule, jobs)) for rule, jobs in longest_first]
    if everything := [one for jobs in rules.values() for one in jobs]:
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
            "continued counts from its last start.",
        ),
    )


def _texts(name: str, jobs: list[tuple[float, float]]) -> list[str]:
    seconds, memory = zip(*jobs, strict=True)
    minutes = (fixed(value / 60, 1) for value in (sum(seconds), max(seconds)))
    return [name, str(len(jobs)), *minutes, fixed(max(memory), 0)]


def _number(text: str) -> float:
    """Return a benchmark's number; jobs too short to be sampled have "-" or "NA"."""
    try:
        return float(text)
    except ValueError:
        return 0.0
