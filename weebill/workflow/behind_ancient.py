"""Correction of Snakemake's choice of the jobs that run again.

Snakemake 9.27 does not look at the parameters, code and inputs of jobs behind one that runs, because these run too.
But jobs that are behind it by `ancient` files alone do not: a change of theirs was missed, and made by the next run.
"""

from collections.abc import Iterator, Mapping
from typing import Any


def look_behind_ancient() -> None:
    """Let Snakemake look at the jobs behind `ancient` files too."""
    from snakemake.dag import DAG  # which cannot be imported before snakemake.workflow

    original = DAG.update_needrun
    if original.__module__ == __name__:  # this process has read the workflow before
        return

    async def update_needrun(self: Any, *arguments: Any, **options: Any) -> None:
        self.bfs = _sure_to_run  # which this method alone calls meanwhile
        try:
            await original(self, *arguments, **options)
        finally:
            del self.bfs

    DAG.update_needrun = update_needrun


def _sure_to_run(behind: Mapping[Any, Mapping[Any, Any]], *jobs: Any) -> Iterator[Any]:
    """Yield the jobs, and those behind them by files that are not all `ancient`.

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
