"""Trainings on two devices, in forks of the test's process: a new Python, as from Lightning, imports for seconds."""

import socket
import time
from contextlib import closing
from multiprocessing.connection import wait
from pathlib import Path
from subprocess import CompletedProcess

from tests.forking import fork
from weebill.translation.training import pruning_study
from weebill.workflow.parent_watch import end_with_parent


def train_with_parent(work: Path) -> None:
    """Do what the command of a separate training does, in this process."""
    end_with_parent()
    pruning_study._train_as_ordered(work)


def forked(command: list[str], **_) -> CompletedProcess:
    """Run the command of a separate training, with one process for each of two devices.

    As with Lightning, the second process starts when the first has encoded the corpus.
    """
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = str(free.getsockname()[1])
    place = {"NODE_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    work = Path(command[-1])
    first = fork(train_with_parent, work, LOCAL_RANK="0", **place)
    while first.is_alive() and not (work / "training/encoded").exists():
        time.sleep(0.01)
    processes = [first, fork(train_with_parent, work, LOCAL_RANK="1", **place)]
    wait([process.sentinel for process in processes])  # if one fails, the other waits for it
    for process in processes:
        process.join(timeout=60)
        process.kill()
        process.join()
    return CompletedProcess(command, max(abs(process.exitcode) for process in processes))
