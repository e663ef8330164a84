"""Remaining time of a run, from the estimate of the experiment and the jobs that have ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

START = 3.0  # seconds per job outside the estimate: mostly the start of Python with its libraries


class Known(NamedTuple):
    """Running job: its rule, threads, seconds so far, and the remaining seconds that it reports."""

    rule: str
    threads: int
    seconds: float
    left: float | None


@dataclass(frozen=True)
class Expected:
    """Estimate of a whole experiment.

    work: seconds of one thread for each stage, by the rules of its jobs.  chain: seconds of the longest chain.
    """

    work: Mapping[tuple[str, ...], float]
    chain: float


_expected: list[Expected] = []


def expect(work: Mapping[tuple[str, ...], float], chain: float) -> None:
    """Give the estimate of the experiment (see `Expected`) to the display in this process."""
    _expected[:] = [Expected(work, chain)]


def time_left(
    jobs: Mapping[str, int],
    measured: Mapping[str, Sequence[float]],
    running: Sequence[Known],
    cores: int | None,
) -> float | None:
    """Return the seconds until the last job ends; None if there is no estimate.

    jobs: number of unfinished jobs, by rule.  measured: seconds times threads of ended jobs, by rule, which replace
    the estimate.  cores: None on a cluster, where we assume that the number of running jobs does not change.
    """
    if not _expected:
        return None
    [expected] = _expected
    each = {rule: sum(found) / len(found) for rule, found in measured.items() if found}
    for rules, work in expected.work.items():
        number = sum(jobs.get(rule, 0) + len(measured.get(rule, ())) for rule in rules)
        each = {rule: max(START, work / number) for rule in rules if jobs.get(rule)} | each
    work = {rule: number * each.get(rule, START) for rule, number in jobs.items()}
    for job in running:
        whole = each.get(job.rule, START)
        done = job.seconds * job.threads if job.left is None else whole - job.left * job.threads
        work[job.rule] = work.get(job.rule, whole) - min(done, whole)
    left = sum(max(0.0, seconds) for seconds in work.values())
    parallel = cores or sum(job.threads for job in running) or 1
    share = left / max(left, sum(expected.work.values()), 1e-9)
    own = max((job.left or 0.0 for job in running), default=0.0)
    return max(left / parallel, share * expected.chain, own)
