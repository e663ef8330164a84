"""docs/reliability.md from the counts of a run of the fuzzer: `python -m tests.fuzz.page docs/results/fuzz.json`."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.fuzz.readers import ROOT

PAGE = ROOT / "docs/reliability.md"
HEAD = """# Damaged files

Whoever runs Weebill reads files that others wrote: models, metrics, corpora, configurations. A fuzzer damages sound
files of each kind at random (bytes and lines flipped, lost, doubled and overwritten; values of JSON and YAML replaced
by odd ones) and reads them. A file may be accepted, where the damage makes another sound file, or refused in one line
that names it. All else is a finding: a traceback, a crash, more than {seconds} seconds, more than {gib} GiB.

`python -m tests.fuzz.page` writes this page from [{source}]({link}). `make fuzz` makes
such a run. Case n of a reader is always the same damage, by the seed.
"""


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.page", description=__doc__)
    parser.add_argument("counts", type=Path, help="JSON that `python -m tests.fuzz --json` wrote")
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    given.page.write_text(page(json.loads(given.counts.read_text("utf-8"))), "utf-8")


def page(found: Mapping[str, Any], source: str = "docs/results/fuzz.json") -> str:
    """Return the page of a run's counts, as Markdown."""
    rows, limits = found["readers"], found["limits"]
    head = HEAD.format(
        **{"seconds": limits["seconds"], "gib": limits["bytes"] >> 30, "source": source},
        link=source.removeprefix("docs/"),
    )
    tallies = {key: [row[key] for row in rows.values()] for key in ("tried", "accepted", "refused")}
    findings = sum(len(row["findings"]) for row in rows.values())
    told = f"{findings or 'no'} finding{'' if findings == 1 else 's'}"
    lines = [
        head,
        f"Seed {found['seed']}, {found['minutes']:g} minutes, commit `{found['commit'][:12]}`, {found['date']}: "
        f"{sum(tallies['tried']):,} files for {len(rows)} readers, {told}.\n",
        "| reader | tried | accepted | refused | findings |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        numbers = (row["tried"], row["accepted"], row["refused"], len(row["findings"]))
        lines.append(f"| {name} | " + " | ".join(f"{n:,}" for n in numbers) + " |")
    numbers = (*map(sum, tallies.values()), findings)
    lines.append("| **all** | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    if findings:
        lines += ["", "## Findings", ""]
        lines += [
            f"- {name}, case {case}: `{told}`"
            for name, row in rows.items()
            for told, case in row["findings"].items()
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
