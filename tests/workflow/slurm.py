"""Slurm with one node on this machine's loopback, for tests: no systemd, no accounting, no traces afterwards.

The partition is called `main`, as in the profiles.  Root and the packages slurm-wlm and munge are required.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

# Jobs read the configuration only here: programs that srun starts do not get SLURM_CONF.
CONFIGURATION = Path("/etc/slurm/slurm.conf")
PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "srun", "squeue", "scontrol", "scancel")
SETTINGS = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
AuthType=auth/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=2
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MinJobAge=600
KillWait=5
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=64000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str | None:
    """Return the reason why this machine cannot run Slurm for tests; None if it can."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    if missing:
        return f"no {missing[0]} here; `apt-get install --no-install-recommends slurm-wlm munge`"
    if os.geteuid() != 0:
        return "a Slurm of our own needs root"
    if any(process.name() in ("slurmctld", "slurmd") for process in psutil.process_iter()):
        return "a Slurm is running here already"
    return None


@contextmanager
def running_slurm(folder: Path) -> Iterator[None]:
    """Run Slurm while the block lasts, with logs in `folder`; restore replaced files afterwards.

    Skip the test if Slurm cannot run; show the logs if it does not start.
    """
    if reason := why_not():
        pytest.skip(reason)
    host = socket.gethostname().split(".")[0]
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    saved = CONFIGURATION.with_name("slurm.conf.before-test")
    if CONFIGURATION.exists():
        os.replace(CONFIGURATION, saved)
    CONFIGURATION.write_text(SETTINGS.format(host=host, folder=folder))
    munged = None
    try:
        if not any(process.name() == "munged" for process in psutil.process_iter()):
            munged = _start_munge()
        _command("slurmctld", "-c")
        _command("slurmd")
        _wait_until_idle(folder)
        yield
    finally:
        with suppress(subprocess.SubprocessError):
            _command("scancel", "--user=root")
        for name in ("slurmd", "slurmctld"):
            _end(folder / f"{name}.pid")
        if munged is not None:
            _end(munged)
        CONFIGURATION.unlink()
        if saved.exists():
            os.replace(saved, CONFIGURATION)


def logs(folder: Path) -> str:
    """Return the ends of the logs of Slurm's daemons."""
    texts = [(path.name, path.read_text().splitlines()[-40:]) for path in folder.glob("*.log")]
    return "\n".join("\n".join([f"== {name}", *lines]) for name, lines in texts)


def _path() -> str:
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"  # users' paths lack the daemons' folder


def _command(*words: str) -> str:
    """Return the output of one of Slurm's programs."""
    run = subprocess.run(
        words,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # a daemon would keep a pipe open
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=20,
        env={**os.environ, "PATH": _path()},
    )
    return run.stdout


def _start_munge() -> Path:
    """Start the daemon that authenticates Slurm's parts; return the file with its process number."""
    folder = Path("/run/munge")
    folder.mkdir(exist_ok=True)
    shutil.chown(folder, "munge", "munge")
    _command("runuser", "-u", "munge", "--", "/usr/sbin/munged")
    return folder / "munged.pid"


def _wait_until_idle(folder: Path) -> None:
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        with suppress(subprocess.SubprocessError):
            if _command("sinfo", "--noheader", "--format=%T").strip() == "idle":
                return
        time.sleep(0.1)
    raise AssertionError(f"Slurm did not come up\n{logs(folder)}")


def _end(pid_file: Path) -> None:
    """End the daemon that wrote a file with its process number."""
    with suppress(FileNotFoundError, ValueError, psutil.NoSuchProcess):
        process = psutil.Process(int(pid_file.read_text()))
        process.terminate()
        process.wait(20)
