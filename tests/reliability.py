"""Generator of docs/reliability.md from counts: `python -m tests.reliability`.

`python -m tests.fuzz --json`, `tests/workflow/kill.py --json` and `tests/workflow/cut_power.py --json` write counts.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from weebill.report.rows import made_today
from weebill.workflow.code_version import code_of_all
from weebill.workflow.repository import commit

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reliability.md"
COUNTS = ROOT / "docs/results/reliability"
HEAD = """# Reliability

This page counts attempts to break Weebill, and how often it held. Each part names the command that makes such a run;
`python -m tests.reliability` writes this page from the counts in [results/reliability](results/reliability).
"""
KILLS = """## Interrupted runs

Small experiments of all three kinds are interrupted at random moments and started again, up to twelve times before
they are finished. In the end every model, table and text must equal those of a run that was left alone, byte for
byte, the report must be whole, and no process may outlive its run; measured times, logs, and the report, which shows
them, may differ. `python tests/workflow/kill.py --kills {kills} --seed {seed}`, {place}:
{runs} runs, {kills} interruptions, {equal} of {runs} runs ended in equal files ({files} files of the three kinds).
"""
CUTS = """## Power cuts

A small translation experiment runs on a file system of its own. At {cuts} random moments the bytes that have reached
its disk by then are copied, without what the system still held in memory. Each copy is mounted and the run goes on in
it to its end, where the files must equal those of a run that was left alone. `python tests/workflow/cut_power.py
--cuts {cuts} --seed {seed}`, {place}: {held} of {cuts} cuts ended in equal files.
"""
FUZZ = """## Damaged files

Whoever runs Weebill reads files that others wrote: models, metrics, corpora, configurations. A fuzzer damages sound
files of each kind at random (bytes and lines flipped, lost, doubled and overwritten; values of JSON and YAML replaced
by odd ones) and reads them. A file may be accepted, where the damage makes another sound file, or refused in one line
that names it. All else is a finding: a traceback, a crash, more than {seconds} seconds, more than {gib} GiB.
`make fuzz MINUTES={minutes:g}`, seed {seed}, {place}: {tried:,} files for {readers} readers, {findings}.
Case n of a reader is always the same damage, by the seed.
"""

MUTANTS = """## Mutants

A test must fail when a check of a reader is changed. In some readers, comparisons, conditions, numbers and lists of
errors were changed one at a time, at random places until the time was over ({place}), and the tests of the module ran
on each mutant. Those that survived were read; what mattered has a test since.
"""
ORPHANS = """## Jobs without their Snakemake

Snakemake alone is killed at random moments of its start and of its jobs' start; each job must end by itself.
`python tests/workflow/orphans.py --kills {kills} --seed {seed}`, {place}:
after {held} of {kills} kills all jobs ended ({states}).
"""
MEMORY = """## Memory

The peak of the resident memory, for a fifth of the lines and for all. `python tests/workflow/memory.py`, {place}.
"""
NAMES = ("kills", "orphans", "cuts", "memory", "fuzz", "mutations")


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(read_counts()), "utf-8")


def read_counts() -> dict[str, Any]:
    """Return the committed counts by name."""
    return {name: json.loads((COUNTS / f"{name}.json").read_text("utf-8")) for name in NAMES}


def page(counts: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page about interruptions, power cuts and damaged files, as Markdown."""
    parts = [
        HEAD,
        kills_part(counts["kills"]),
        orphans_part(counts["orphans"]),
        cuts_part(counts["cuts"]),
        memory_part(counts["memory"]),
        fuzz_part(counts["fuzz"]),
        mutants_part(counts["mutations"]),
    ]
    return "\n".join(parts)


def kills_part(found: Mapping[str, Any]) -> str:
    """Return the part about `kill.py`: a table of interruptions by kind."""
    kills, equal = sum(found["ways"].values()), found["runs"] - found["differing_runs"]
    lines = [KILLS.format(**found, kills=kills, equal=equal, place=_place(found))]
    rows = ((way, f"{number}") for way, number in sorted(found["ways"].items()))
    return "\n".join([*lines, *_table(("interrupted by", "times"), rows)]) + "\n"


def cuts_part(found: Mapping[str, Any]) -> str:
    """Return the part about `cut_power.py`."""
    return CUTS.format(**found, place=_place(found))


def orphans_part(found: Mapping[str, Any]) -> str:
    """Return the part about `orphans.py`."""
    states, kills = found["states"], sum(found["states"].values())
    told = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
    held = kills - found["outlived"]
    return ORPHANS.format(**{**found, "states": told}, kills=kills, held=held, place=_place(found))


def memory_part(found: Mapping[str, Any]) -> str:
    """Return the part about `memory.py`: a table of peaks in MiB by task."""
    rows = []
    for name, peaks in found["kib"].items():
        few, all_lines = peaks.values()
        change = f"{100 * (all_lines / few - 1):+.1f} %"
        rows.append((name, f"{few / 1024:.0f}", f"{all_lines / 1024:.0f}", change))
    few, all_lines = (f"MiB, {int(count):,} lines" for count in next(iter(found["kib"].values())))
    columns = ("work", few, all_lines, "change")
    return "\n".join([MEMORY.format(place=_place(found)), *_table(columns, iter(rows))]) + "\n"


def fuzz_part(found: Mapping[str, Any]) -> str:
    """Return the part about the fuzzer: a table of its files by reader, and its findings."""
    rows = found["readers"]
    tallies = {name: _numbers(row) for name, row in rows.items()}
    total = [sum(column) for column in zip(*tallies.values(), strict=True)]
    head = FUZZ.format(
        seconds=found["limits"]["seconds"],
        gib=found["limits"]["bytes"] >> 30,
        minutes=found["minutes"],
        seed=found["seed"],
        place=_place(found),
        tried=total[0],
        readers=len(rows),
        findings=f"{total[3] or 'no'} finding{'' if total[3] == 1 else 's'}",
    )
    columns = ("reader", "tried", "accepted", "refused", "findings")
    told = {**tallies, "**all**": total}
    cells = ((name, *(f"{number:,}" for number in row)) for name, row in told.items())
    lines = [head, *_table(columns, cells)]
    for name, row in rows.items():
        lines += [f"\n- {name}, case {case}: `{told}`" for told, case in row["findings"].items()]
    return "\n".join(lines) + "\n"


def mutants_part(found: Mapping[str, Any]) -> str:
    """Return the part about mutants: a table by module."""
    columns = ("module", "places", "mutants", "killed", "survived")
    keys = ("sites", "mutants", "killed", "survived")
    rows = ((name, *(f"{row[key]}" for key in keys)) for name, row in found["modules"].items())
    return "\n".join([MUTANTS.format(place=_place(found)), *_table(columns, rows)]) + "\n"


def provenance(seed: int) -> dict[str, Any]:
    """Return the provenance of counts: the seed, today's date, and commit and fingerprint of all code."""
    return {"seed": seed, **made_today(commit(), {"weebill": {"code": code_of_all()}})}


def _numbers(row: Mapping[str, Any]) -> list[int]:
    return [row["tried"], row["accepted"], row["refused"], len(row["findings"])]


def _place(found: Mapping[str, Any]) -> str:
    return f"commit `{found['commit'][:12]}`, {found['date']}"


def _table(columns: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    for cells in (columns, ("---", *["---:"] * (len(columns) - 1)), *rows):
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
