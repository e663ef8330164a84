"""What every workflow script stands in: output goes to the job's log, bad input ends in one clear line."""

import errno
import logging
import os
import re
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weebill.errors import InputError

_DISK_REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space and run again, finished work is kept",
    errno.EDQUOT: "the disk quota is used up; free some space and run again, finished work is kept",
    errno.EROFS: "the file system is read-only; choose a results folder that can be written",
    errno.EACCES: "permission denied; choose a folder that can be read and written",
    errno.EISDIR: "a folder stands where a file should; choose another name",
    errno.ENOTDIR: "a file stands where a folder should; choose another place",
    errno.EEXIST: "something stands here already, a file perhaps where a folder should; choose another place",
}


def explain(error: BaseException) -> str | None:
    """One line for a user where `error` is the input's or the disk's fault, None where it is ours."""
    if isinstance(error, InputError):
        return str(error)
    code = _error_number(error)
    if code in _DISK_REMEDIES:
        # Of a renaming, where the file was to go: the other name is of a partial file.
        place = getattr(error, "filename2", None) or getattr(error, "filename", None) or "results"
        return f"{place}: {_DISK_REMEDIES[code]}"
    return None


def _error_number(error: BaseException) -> int | None:
    """The system's number of what went wrong; safetensors, written in Rust, says it in words alone."""
    if isinstance(error, OSError):
        return error.errno
    found = re.search(r"\(os error (\d+)\)", str(error))
    return int(found[1]) if found else None


@contextmanager
def job(log: str | Path) -> Iterator[None]:
    """Run a script's body with stdout, stderr and logging in the file `log`.

    Input and disk errors are written as one line to the log and the terminal, and the process exits with
    code 1; any other error leaves its traceback in the log too, and goes on upwards.  A training that was told to
    end (SIGTERM) exits as the shell says of such processes, not with 0.
    """
    from weebill.orphans import end_with_snakemake  # `explain` needs no psutil

    end_with_snakemake()
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush(), sys.stderr.flush()
    output, terminal = os.dup(1), os.dup(2)
    with open(log, "a", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)
        logging.basicConfig(
            level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr, force=True
        )
        try:
            yield
        except Exception as error:
            line = explain(error)
            if line is None:
                traceback.print_exc()
                raise
            print(line, file=sys.stderr, flush=True)
            # Snakemake ends some of its lines in a second write: ours begins a line of its own.
            os.write(terminal, f"\nweebill: {line}\n".encode())
            raise SystemExit(1) from error
        except SystemExit as end:
            if end.code is None:  # Lightning's, after SIGTERM: the training is not done
                print("ended by SIGTERM before its time", file=sys.stderr)
                raise SystemExit(128 + signal.SIGTERM) from end
            raise
        finally:
            sys.stdout.flush(), sys.stderr.flush()
            os.dup2(output, 1), os.dup2(terminal, 2)
            os.close(output), os.close(terminal)
