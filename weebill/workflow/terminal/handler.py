"""Handler of Snakemake's log records, which shows a run as jobs with their progress.

Snakemake's warnings, errors and other messages remain, without its chatter.  `--quiet`, dry runs, `--verbose` and
`--debug-dag` show the same as without this plugin.
"""

import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from logging import LogRecord
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from weebill.errors import full_disk
from weebill.workflow.progress import listen
from weebill.workflow.terminal.course import Course, Job, clock, count, duration
from weebill.workflow.terminal.ending import ending, full_place, tail

PERIOD = 1.0  # seconds between two readings of the jobs' progress
STOPPING = "Terminating processes on user request"
TRACEBACK = "Traceback (most recent call last)"
KILLED = "CalledProcessError"  # error of each running job after the user has stopped the run
# Beginnings of messages that tell the user nothing new, or that this display words itself.
CHATTER = (
    "Assuming unrestricted shared filesystem usage",
    "At least one job did not complete successfully",
    "Conda environments: ignored",
    "Elapsed time",
    "Exiting because a job execution failed",
    "Execute ",
    "Group jobs: inactive",
    "Select jobs to execute",
    "Shutting down",
    "Singularity containers: ignored",
    "Using shell",
    "WorkflowError:\nAt least one job did not complete successfully",
)


class LogHandler(LogHandlerBase):
    """Snakemake's logger plugin: a live display on a terminal, plain lines elsewhere."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True  # it needs events that `quiet` drops, and filters the rest itself
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter
        from snakemake.settings.enums import Quietness

        asked = self.common_settings
        quiet = set(asked.quiet or ())
        self.course, self._stopped, self._ended = Course(), False, threading.Event()
        self._full: str | None = None  # message for the user if a disk was full
        form = DefaultFormatter(quiet, asked.show_failed_logs)
        stream = sys.stdout if asked.stdout else sys.stderr
        self._plain = ColorizingTextHandler(asked.nocolor, stream, form)
        dry, dag, verbose = asked.dryrun, asked.debug_dag, asked.verbose
        chosen = DefaultFilter(quiet, dag, verbose, dry, asked.printshellcmds)
        self._plain.addFilter(chosen)
        silent = {Quietness.ALL, Quietness.PROGRESS} & quiet
        self._display = None
        if not (silent or dry or dag or verbose):
            self._display = self._make_display()
            self._events = {
                LogEvent.JOB_INFO: self._begin,
                LogEvent.JOB_FINISHED: self._finish,
                LogEvent.JOB_ERROR: self._fail,
                LogEvent.GROUP_ERROR: self._fail_group,
                LogEvent.GROUP_INFO: self._ignore,
                LogEvent.JOB_STARTED: self._ignore,
                LogEvent.PROGRESS: self._count,
                LogEvent.RESOURCES_INFO: self._resources,
                LogEvent.RUN_INFO: self._plan,
                LogEvent.WORKFLOW_STARTED: self._ignore,
            }

    def _make_display(self) -> Any:
        if self._plain.is_tty and self._plain.can_color_tty():
            from weebill.workflow.terminal.screen import Screen

            return Screen(self.course, self.common_settings.nocolor)
        from weebill.workflow.terminal.lines import Lines

        return Lines(self.course, sys.stderr)

    def emit(self, record: LogRecord) -> None:
        """Show a record, or update the display."""
        try:
            full = full_place(record)
            if full and self._full is None:  # the disk may have space again at the end
                self._full = f"weebill: {full}: {full_disk(full)}"
            if full and TRACEBACK in record.getMessage():
                return  # the last line reports it
            if self._display is None:
                self._plain.handle(record)
            elif act := self._events.get(getattr(record, "event", None)):
                act(vars(record))
            else:
                self._message(record)
        except Exception:  # else the thread that distributes the records would end
            self.handleError(record)

    def close(self) -> None:
        """End the display with results and what to do next."""
        if self._full:
            line, self._full = self._full, None
            self._display.say(line, "red") if self._display else print(line, file=sys.stderr)
        if self._display is not None and not self._ended.is_set():
            self._ended.set()
            with self.lock:
                self._display.close()
                if self.course.started:
                    with suppress(OSError):  # another run in this folder uses it
                        self._folder.rmdir()
                for style, line in ending(self.course, self._stopped):
                    self._display.say(line, style)
        super().close()

    def _message(self, record: LogRecord) -> None:
        text = record.getMessage()
        if text.startswith(STOPPING):
            self._stopped = True
            text = "Stopping when the running jobs have ended; Ctrl-C ends them within seconds."
        killed = self._stopped and KILLED in text
        if killed or text.startswith(CHATTER) or not self._plain.filter(record):
            return
        styles = {"WARNING": "yellow", "ERROR": "red", "CRITICAL": "red"}
        text = self._plain.format(record) if text == record.getMessage() else text
        if text not in ("", "None"):
            self._display.say(text, styles.get(record.levelname, ""))

    def _ignore(self, message: Mapping[str, Any]) -> None:
        pass

    def _resources(self, message: Mapping[str, Any]) -> None:
        self.course.cores = message.get("cores", self.course.cores)

    def _plan(self, message: Mapping[str, Any]) -> None:
        self.course.plan(message["stats"])
        cores = self.course.cores
        where = "" if cores is None else f" on {count(cores, 'core')}"
        self._display.say(f"{count(self.course.total, 'job')} to do{where}")

    def _begin(self, message: Mapping[str, Any]) -> None:
        job = Job.of(message)
        if not self.course.started:
            self.course.started = True
            threading.Thread(target=self._watch, daemon=True).start()
        self._folder = listen(next(iter(job.logs), ""))
        if message["output"] or message["log"]:
            self.course.begin(job)
            self._display.begin(job)
        else:  # a target such as `all`, which only names files
            self.course.left[job.rule] -= 1

    def _finish(self, message: Mapping[str, Any]) -> None:
        job = self.course.finish(message["job_id"])
        if job is not None:
            self._display.finish(job)

    def _count(self, message: Mapping[str, Any]) -> None:
        self.course.total = message["total"]

    def _fail(self, message: Mapping[str, Any]) -> None:
        if self._stopped:  # by the user, not by a fault of the job
            return
        known = self.course.running.get(message["jobid"])
        job = known or Job(message["jobid"], message["rule_name"], "", list(message["log"]), 1)
        job.logs = list(message["log"])  # with the log of the cluster
        self.course.fail(job)
        self._display.say(f"{clock()}  FAILED    {job.name} after {duration(job.seconds)}", "red")
        for line in tail(job.logs):
            self._display.say(line)
        if waiting := len(self.course.running):
            self._display.say(f"  Running now, and not stopped by this: {count(waiting, 'job')}")

    def _fail_group(self, message: Mapping[str, Any]) -> None:
        for one in message["job_error_info"]:
            self._fail({**one, "log": [*one["log"], *message["aux_logs"]]})

    def _watch(self) -> None:
        while not self._ended.wait(PERIOD):
            with self.lock:
                if not self._ended.is_set():
                    self.course.look()
                    self._display.refresh()
