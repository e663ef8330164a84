"""Lock that Snakemake keeps on the folder where it runs; a killed Snakemake leaves it there."""

from pathlib import Path

import psutil

from weebill.errors import InputError

LOCKS = Path(".snakemake/locks")


def living_snakemake(folder: Path) -> psutil.Process | None:
    """Return a Snakemake process that runs in `folder`, or None."""
    for process in psutil.process_iter():
        try:
            words = process.cmdline()[:3]
            if any(Path(w).name == "snakemake" for w in words) and process.cwd() == str(folder):
                return process
        except psutil.Error:  # the process has ended, or belongs to another user
            continue
    return None


def remove_left_lock(folder: Path) -> None:
    """Remove the lock that a killed Snakemake left in `folder`; raise InputError if a Snakemake still runs there."""
    locks = list((folder / LOCKS).glob("*.lock"))
    if not locks:
        return
    if alive := living_snakemake(folder.resolve()):
        raise InputError(
            f"Snakemake runs here already (process {alive.pid}); wait for it, or end it"
        )
    for lock in locks:
        lock.unlink(missing_ok=True)
