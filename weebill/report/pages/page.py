"""Common parts of the pages of all kinds of experiments, and the table of the cost of a run."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from weebill.report.rendering import to_markdown
from weebill.report.results import Results
from weebill.report.table import Column, Row, Table, fixed


def results_page(
    results: Results,
    introduction: str,
    findings: Iterable[str],
    parts: Iterable[Table | Mapping[str, str]],
    models: Mapping[str, str],
    times: str = "Times",
    digests: str = "SHA-256 of each model's file",
) -> str:
    """Return a page of Markdown.

    findings: sentences.  parts: tables, and figures by heading → link of a picture.  models: name → SHA-256.
    """
    versions = sorted({tuple(sorted(one.versions.items())) for one in results.qualities})
    environment = [
        *("Software: " + ", ".join(f"{n} {v}" for n, v in row) + "." for row in versions),
        *(f"{times}: {one}." for one in sorted({one.hardware for one in results.speeds})),
        *("", f"{digests}:", ""),
        *(f"- `{name}`: `{digest}`" for name, digest in models.items()),
    ]
    sections = [("In short", "\n".join(f"- {line}" for line in findings))]
    for part in parts:
        if isinstance(part, Table):
            sections.append((part.title, to_markdown(part)))
        else:
            sections += [(heading, f"![{heading}]({link})") for heading, link in part.items()]
    sections.append(("What it ran on", "\n".join(environment)))
    texts = [f"## {heading}\n\n{text.rstrip()}\n" for heading, text in sections]
    return "\n".join([f"{introduction}\n", *rehearsed(results.config), *texts])


def rehearsed(config: Mapping[str, Any]) -> list[str]:
    """Return the paragraph that marks the page of a miniature; nothing for a real experiment."""
    name = config.get("rehearses")
    if name is None:
        return []
    return [
        f"**Rehearsed.** This is a miniature of the experiment {name}, with stand-in text and tiny models that "
        "hardly learn (`weebill rehearse`): it shows that every rule runs, and its numbers mean nothing.\n"
    ]


def introduction(config: Mapping[str, Any], subject: str) -> str:
    """Return a page's title and first sentences."""
    return (
        f"# Results of the experiment {config['experiment']}\n\n{subject}, seed {config['seed']}. "
        f"This page was written by the workflow from its measurements (rule `pages`)."
    )


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
