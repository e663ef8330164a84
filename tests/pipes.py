"""Files replaced by others that block a reader or never end, and a time limit for tests with them."""

import os
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WITHOUT_END = ("pipe", "device", "socket")


def replace(path: Path, kind: str) -> None:
    """Replace a file by a named pipe, a link to a device without an end, or a socket."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        os.mknod(path, stat.S_IFSOCK | 0o600)


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise TimeoutError if the block takes longer."""

    def late(*_):
        raise TimeoutError(f"waited {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
