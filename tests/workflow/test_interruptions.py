"""Runs are also interrupted if their fork has become another program."""

import os
import time

from tests.forking import fork
from tests.workflow.interruptions import has_ended


def test_a_fork_that_becomes_another_program_has_not_ended():
    process, began = fork(os.execlp, "sleep", "sleep", "20"), time.monotonic()
    assert not has_ended(process, 0.3) and time.monotonic() - began < 10
    process.kill()
    assert has_ended(process, 10)
