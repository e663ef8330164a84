"""Worker processes: their cores, state and failures."""

import os
import signal

import pytest

from weebill.errors import InputError
from weebill.evaluation.this_process import usable_cores
from weebill.evaluation.timing.processes import Worker, memory, pool


class Kept:
    """Worker's state that reports its process."""

    def __init__(self, number):
        self.number = number

    def place(self):
        import torch

        return self.number, os.getpid(), os.sched_getaffinity(0), torch.get_num_threads()

    def variable(self, name):
        return os.environ.get(name)

    def refuse(self):
        raise InputError("bad input; mend it")

    def break_off(self):
        return 1 / 0

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_keeps_what_it_makes_on_its_own_core(monkeypatch):
    monkeypatch.delenv("SOME_LIBRARY", raising=False)
    core = usable_cores()[-1]
    with Worker([core], variables={"SOME_LIBRARY": "fast"}) as worker:
        assert "SOME_LIBRARY" not in os.environ
        for number in (1, 2):
            worker.call(Kept, number)
            found, process, cores, threads = worker.call("place")
            assert (found, cores, threads) == (number, {core}, 1)
            assert process != os.getpid()
        assert worker.call("variable", "SOME_LIBRARY") == "fast"
        assert worker.call("variable", "OMP_NUM_THREADS") == "1"
        with pytest.raises(InputError, match=r"^bad input; mend it$"):
            worker.call("refuse")
        with pytest.raises(InputError, match="ZeroDivisionError"):
            worker.call("break_off")
        assert worker.call("place")[0] == 2  # the worker survives a failure
        with pytest.raises(InputError, match="the worker process ended"):
            worker.call("die")
        with pytest.raises(InputError, match="the worker process ended"):
            worker.call("place")


@pytest.mark.workflows
@pytest.mark.skipif(len(usable_cores()) < 2, reason="one core only")
def test_a_pools_workers_share_no_core():
    cores = usable_cores(2)
    with pool(cores, 2) as workers:
        for worker in workers:
            worker.call(Kept, 0)
        assert [worker.call("place")[2] for worker in workers] == [{core} for core in cores]
    with pool(cores, 1, threads=2) as (worker,):
        worker.call(Kept, 0)
        assert worker.call("place")[2:] == (set(cores), 2)


def test_memory_of_this_process():
    before = memory()
    held = bytearray(os.urandom(1) * (100 * 2**20))
    assert memory() - before > 90
    assert memory(peak=True) >= before + 90
    del held
