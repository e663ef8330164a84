"""Cores and memory that control groups grant, with the files that Linux shows for them."""

import os

import psutil
import pytest

from weebill.workflow import machine

GIB = 2**30
CORES, MEMORY = len(os.sched_getaffinity(0)), psutil.virtual_memory().total


@pytest.mark.parametrize(
    ("files", "cores", "memory"),
    [
        ({}, CORES, MEMORY),
        (  # a container, which sees its own group as the top of all
            {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1073741824\n",
             "sys/fs/cgroup/cpu.max": "150000 100000\n"},
            1, GIB,
        ),
        (  # groups in groups, of which one has no limit: a service of systemd, or a job of Slurm
            {"proc/self/cgroup": "0::/slurm/job_1/step\n", "sys/fs/cgroup/slurm/job_1/memory.max": "2147483648\n",
             "sys/fs/cgroup/slurm/job_1/step/memory.max": "max\n",
             "sys/fs/cgroup/slurm/job_1/step/cpu.max": "max 100000\n", "sys/fs/cgroup/memory.max": "max\n"},
            CORES, 2 * GIB,
        ),
        (  # the first version, with a tree for each controller; the path is the machine's, outside the container
            {"proc/self/cgroup": "5:memory:/docker/ab\n3:cpu,cpuacct:/docker/ab\n0::/\n",
             "sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n",
             "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"},
            1, GIB // 2,
        ),
        (  # the same without limits
            {"proc/self/cgroup": "5:memory:/\n3:cpu,cpuacct:/\n",
             "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
             "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"},
            CORES, MEMORY,
        ),
    ],
)  # fmt: skip
def test_a_container_has_what_its_groups_grant(tmp_path, files, cores, memory):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert machine.cores(tmp_path) == cores
    assert machine.memory(tmp_path) == memory


def test_this_machine_has_some_of_both():
    assert 1 <= machine.cores() <= CORES
    assert 0 < machine.memory() <= MEMORY
