"""Context manager around every workflow script: output goes to the job's log, bad input becomes one clear line.

Every script imports this module first.  In a job, the import itself makes the process end together with its
Snakemake, even during the other imports (torch takes seconds), and takes the job's GPUs before torch can see others.
"""

import logging
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from weebill.errors import InputError, explain
from weebill.workflow.gpus import take_gpus
from weebill.workflow.parent_watch import end_with_snakemake, is_job
from weebill.workflow.progress import telling


def _report_error(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Report an error that ends this process, except Ctrl-C, which Snakemake reports."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


def _gpus() -> int:
    """Return the number of GPUs that this job's rule, or the options of its script, request."""
    given = getattr(sys.modules.get("__main__"), "snakemake", None)
    if given is not None:
        return int(getattr(given, "resources", {}).get("gpu", 0))
    return int("--accelerator gpu" in " ".join(sys.argv))


if is_job():
    sys.excepthook = _report_error
    end_with_snakemake()
    with suppress(InputError):  # `job` reports it
        take_gpus(_gpus())


@contextmanager
def job(log: str | Path) -> Iterator[None]:
    """Run a script's body with stdout, stderr and logging in the file `log`.

    Input and disk errors become one line in the log and the terminal, with exit code 1; any other error is logged and
    raised again.  A training ended by SIGTERM exits with code 128 + 15, not with 0.
    """
    end_with_snakemake()
    sys.stdout.flush(), sys.stderr.flush()
    output, terminal = os.dup(1), os.dup(2)
    with _opened(log) as file:
        os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)
        form = {"format": "%(asctime)s %(message)s", "stream": sys.stderr}
        logging.basicConfig(level=logging.INFO, force=True, **form)
        try:
            with telling(log):
                if is_job():
                    take_gpus(_gpus())
                yield
        except Exception as error:
            line = explain(error)
            if line is None:
                traceback.print_exc()
                raise
            with suppress(OSError):  # the disk is full
                print(line, file=sys.stderr, flush=True)
            # Begin with a new line, because Snakemake ends some of its lines in a second write.
            os.write(terminal, f"\nweebill: {line}\n".encode())
            raise SystemExit(1) from error
        except SystemExit as end:
            if end.code is None:  # Lightning's exit after SIGTERM: the training is not finished
                print("ended by SIGTERM before its time", file=sys.stderr)
                raise SystemExit(128 + signal.SIGTERM) from end
            raise
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError):  # the disk is full
                    stream.flush()
            os.dup2(output, 1), os.dup2(terminal, 2)
            os.close(output), os.close(terminal)


def _opened(log: str | Path) -> IO[str]:
    """Open a log.  A disk error ends this process with one line."""
    try:
        Path(log).parent.mkdir(parents=True, exist_ok=True)
        return open(log, "a", encoding="utf-8")
    except OSError as error:
        line = explain(error, str(log))
        if line is None:
            raise
        os.write(2, f"\nweebill: {line}\n".encode())
        raise SystemExit(1) from error
