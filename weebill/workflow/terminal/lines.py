"""Display as plain lines, for files and pipes: when a job starts or ends, and at most once a minute in between."""

import time
from typing import TextIO

from weebill.workflow.terminal.course import Course, Job, clock, duration

EVERY = 60.0  # seconds between two lines of a running job


class Lines:
    """Display that only adds lines to a stream."""

    def __init__(self, course: Course, stream: TextIO) -> None:
        self._course, self._stream = course, stream
        self._shown: dict[int, float] = {}  # time of the last line of each job, by its number

    def say(self, text: str, style: str = "") -> None:
        """Write a text as a line."""
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def begin(self, job: Job) -> None:
        """Report the start of a job."""
        self._shown[job.number] = time.monotonic()
        log = f"  (log: {job.logs[0]})" if job.logs else ""
        self._say("started", f"{job.name}{log}")

    def finish(self, job: Job) -> None:
        """Report the end of a job."""
        self._say("finished", f"{job.name} after {duration(job.seconds)}; {self._course.state()}")

    def refresh(self) -> None:
        """Report the progress of jobs without a line in the last minute."""
        now = time.monotonic()
        late = [
            job for job in self._course.running.values() if now - self._shown[job.number] >= EVERY
        ]
        for job in late:
            self._shown[job.number] = now
            self._say("running", f"{job.name}: {job.state()}")

    def close(self) -> None:
        """Do nothing, because all lines are written."""

    def _say(self, what: str, text: str) -> None:
        self.say(f"{clock()}  {what:8}  {text}")
