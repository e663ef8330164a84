"""Processes that compute for this one, and end with it."""

import os
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process


def worker_processes(count: int) -> ProcessPoolExecutor:
    """Return a pool of `count` processes.

    They are spawned, because forking a process with running threads of Arrow or CUDA is not safe.
    """
    return ProcessPoolExecutor(count, get_context("spawn"), _end_with_parent)


def _end_with_parent() -> None:
    """End this worker if its parent is killed; otherwise it would wait for ever, or write while a new run writes."""

    def outlive() -> None:
        parent_process().join()
        os._exit(1)

    threading.Thread(target=outlive, daemon=True).start()
