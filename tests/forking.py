"""Forks of the test's process, which has already imported what a new Python takes seconds to import."""

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.context import ForkProcess
from typing import Any

FORK = multiprocessing.get_context("fork")


def fork(work: Callable[..., Any], *arguments: Any, **variables: str) -> ForkProcess:
    """Start work(*arguments) in a fork with these environment variables."""

    def run() -> None:
        os.environ.update(variables)
        work(*arguments)

    process = FORK.Process(target=run)
    process.start()
    return process
