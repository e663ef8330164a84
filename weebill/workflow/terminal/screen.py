"""Display on a terminal: lines of ended jobs scroll by above the running jobs and the whole run.

Jobs write to the same terminal, and the display would overwrite their text.  So stderr is a pipe during the live
display, and the lines of the pipe are shown above it.
"""

import os
import threading
from contextlib import suppress

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from weebill.workflow.terminal.course import Course, Job, clock, duration

STDERR = 2
ECHO = 3  # free columns at the end of a line, so that the terminal's "^C" starts no new line
GAP = 2  # columns between two parts of a line
BAR = 12  # columns of a bar
NARROW = 90  # bars are shown on terminals with at least this number of columns


class Screen:
    """Live display."""

    def __init__(self, course: Course, nocolor: bool) -> None:
        self._course = course
        self._terminal = os.dup(STDERR)  # used while stderr is a pipe
        file = os.fdopen(self._terminal, "w", encoding="utf-8", errors="replace", closefd=False)
        self._console = Console(
            file=file, no_color=nocolor, highlight=False, markup=False, emoji=False
        )
        self._live = Live(
            console=self._console, auto_refresh=False, transient=True, vertical_overflow="crop"
        )
        self._pipe: threading.Thread | None = None

    def say(self, text: str, style: str = "") -> None:
        """Write a text above the running jobs."""
        self._console.print(Text.from_ansi(text, style=style), soft_wrap=True)

    def begin(self, job: Job) -> None:
        """Add a job to the running ones."""
        if self._pipe is None:
            self._take_stderr()
            self._live.start()
        self.refresh()

    def finish(self, job: Job) -> None:
        """Write a line about a job that has ended."""
        self.say(f"{clock()}  {job.name}: done in {duration(job.seconds)}", "dim")
        self.refresh()

    def refresh(self) -> None:
        """Draw the display again."""
        self._live.update(self._drawn(), refresh=True)

    def close(self) -> None:
        """Remove the live part, and give stderr back to the terminal."""
        if self._pipe is not None:
            self._live.update(Text(""), refresh=False)
            os.dup2(self._terminal, STDERR)
            self._pipe.join(timeout=1)  # a job that still runs may keep the pipe open
            self._live.stop()

    def _drawn(self) -> Table:
        """Return the running jobs that fit on the screen, and the line of the whole run."""
        running = [*self._course.running.values()]
        room = max(1, self._console.height - 3)
        rows = [(Text(job.name, "bold"), _bar(job), *job.parts()) for job in running[:room]]
        if len(running) > room:
            rows.append((Text(f"and {len(running) - room} more"), "", "", ""))
        bar = ProgressBar(max(1, self._course.total), self._course.done, width=BAR)
        rows.append((Text("the whole run", "bold cyan"), bar, *self._course.parts()))
        # With these widths, a narrow terminal cuts names and values, but never the remaining time.
        whole = self._console.width - ECHO
        bars = [BAR] * (self._console.width >= NARROW)
        last = max(len(left) for *_, left in rows)
        first = min(max(len(name) for name, *_ in rows), whole // 3)
        far = whole - GAP * (2 + len(bars)) - sum(bars) - first - last
        drawn = Table.grid(padding=(0, GAP))
        for width in (first, *bars, max(1, far), last):
            drawn.add_column(width=width, no_wrap=True, overflow="ellipsis")
        for name, bar, far, left in rows:
            drawn.add_row(name, *[bar] * len(bars), far, left)
        return drawn

    def _take_stderr(self) -> None:
        """Replace stderr by a pipe whose lines are shown above the display."""
        reading, writing = os.pipe()
        os.dup2(writing, STDERR)
        os.close(writing)
        self._pipe = threading.Thread(target=self._show, args=(reading,), daemon=True)
        self._pipe.start()

    def _show(self, reading: int) -> None:
        with (
            suppress(OSError),
            os.fdopen(reading, encoding="utf-8", errors="replace", newline="\n") as lines,
        ):
            for line in lines:
                self.say(line.rstrip("\r\n"))


def _bar(job: Job) -> ProgressBar | str:
    progress = job.progress
    if progress is None or not progress.total:
        return ""
    return ProgressBar(progress.total, progress.done, width=BAR)
