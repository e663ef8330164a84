"""Correction of Snakemake's choice of jobs that run again.

If a job runs, Snakemake 9.27 does not check the parameters, code and inputs of jobs that depend on it, because these
run too.  But jobs that depend on it only by `ancient` files do not: their changes were missed until the next run.
"""

from collections.abc import Iterator, Mapping
from typing import Any


def look_behind_ancient() -> None:
    """Make Snakemake also check jobs that depend on a running job by `ancient` files."""
    from snakemake.dag import DAG  # cannot be imported before snakemake.workflow

    original = DAG.update_needrun
    if original.__module__ == __name__:  # this process has read the workflow before
        return

    async def update_needrun(self: Any, *arguments: Any, **options: Any) -> None:
        self.bfs = _sure_to_run  # meanwhile, only this method calls it
        try:
            await original(self, *arguments, **options)
        finally:
            del self.bfs

    DAG.update_needrun = update_needrun


def _sure_to_run(behind: Mapping[Any, Mapping[Any, Any]], *jobs: Any) -> Iterator[Any]:
    """Yield the jobs, and all jobs that depend on them by files that are not all `ancient`.

    behind: for each job, the jobs that read its files, and these files.
    """
    waiting, seen = list(jobs), set(jobs)
    while waiting:
        job = waiting.pop()
        yield job
        for other, files in behind[job].items():
            if other not in seen and not all(file.is_ancient for file in files):
                seen.add(other)
                waiting.append(other)
