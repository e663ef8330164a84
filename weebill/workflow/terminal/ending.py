"""Last lines of a run (results, and what to do next) and last lines of a failed job's logs."""

import errno
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from logging import LogRecord
from pathlib import Path

from weebill.workflow.terminal.course import Course, count, duration

LINES = 12  # lines of a log that are shown
FULL = re.compile(rf"{re.escape(os.strerror(errno.ENOSPC))}(?:: '([^'\n]+)')?")
SNAKEMAKE = ".snakemake"  # folder that Snakemake itself writes to
BYTES = 16_384  # bytes at the end of a log that are read


def tail(logs: Sequence[str]) -> Iterator[str]:
    """Yield the names of logs, each with its last lines."""
    if not logs:
        yield "  this job writes no log"
    for log in logs:
        lines = _last_lines(log)
        yield f"  log: {log}{'; its last lines:' if lines else ' (empty or missing)'}"
        yield from (f"    {line}" for line in lines)


def _last_lines(log: str) -> list[str]:
    content = b""
    with suppress(OSError), Path(log).open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - BYTES))
        content = file.read()
    # A progress bar's line has many states; only the last one counts.
    lines = [
        line.rpartition("\r")[2].rstrip() for line in content.decode("utf-8", "replace").split("\n")
    ]
    return [line for line in lines if line][-LINES:]


def full_place(record: LogRecord) -> str | None:
    """Return the place where the disk was full if a message of Snakemake reports this, otherwise None."""
    text = record.getMessage()
    found = FULL.search(text)
    return found and (found[1] or SNAKEMAKE)


def ending(course: Course, stopped: bool) -> Iterator[tuple[str, str]]:
    """Yield style and text of the last lines of a run; stopped: the user ended it."""
    if not course.started:
        return
    took = duration(time.monotonic() - course.since)
    if not (course.failed or stopped) and course.done >= course.total:
        yield "green", f"All {count(course.total, 'job')} done in {took}."
        return
    yield "", ""
    for job in course.failed.values():
        log = f"; log: {job.logs[0]}" if job.logs else ""
        yield "red", f"Failed: {job.name} (rule {job.rule}){log}"
    if stopped:
        yield "yellow", f"Stopped by you after {took}."
    for job in course.running.values():
        yield "yellow", f"Not finished: {job.name} ({job.state()})"
    kept = f"{course.done} of {count(course.total, 'job')} done and kept."
    mend = "Mend the cause; then the" if course.failed else "The"
    yield "", f"{kept} {mend} same command continues where this run ended."
