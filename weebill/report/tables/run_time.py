"""Table of the cost of a run: time and memory of every rule, from Snakemake's benchmark files."""

import csv
from pathlib import Path

from weebill.report.table import Cell, Column, Row, Table, fixed


def run_time_table(benchmarks: str | Path) -> Table:
    """Return jobs, minutes and peak memory of each rule, from files BENCHMARKS/RULE.tsv and BENCHMARKS/RULE/….tsv."""
    folder = Path(benchmarks)
    rules: dict[str, list[tuple[float, float]]] = {}
    for path in sorted(folder.rglob("*.tsv")):
        parts = path.relative_to(folder).parts
        rule = parts[0] if len(parts) > 1 else path.stem
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                rules.setdefault(rule, []).append((_number(row["s"]), _number(row["max_rss"])))
    rows = []
    for rule, jobs in sorted(rules.items(), key=lambda item: -sum(s for s, _ in item[1])):
        rows.append(_row(rule, jobs))
    everything = [one for jobs in rules.values() for one in jobs]
    if everything:
        rows.append(Row(_row("all rules", everything).cells, "baseline"))
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
        tuple(rows),
        (
            "Minutes are summed over jobs, some of which ran side by side. A job that was stopped and "
            "continued counts from its last start.",
        ),
    )


def _row(name: str, jobs: list[tuple[float, float]]) -> Row:
    seconds = [s for s, _ in jobs]
    values = (
        str(len(jobs)),
        fixed(sum(seconds) / 60, 1),
        fixed(max(seconds) / 60, 1),
        fixed(max(memory for _, memory in jobs), 0),
    )
    return Row((Cell(name), *(Cell(value) for value in values)))


def _number(text: str) -> float:
    """Return a benchmark's number; jobs too short to be sampled have "-" or "NA"."""
    try:
        return float(text)
    except ValueError:
        return 0.0
