"""Run of a miniature, and the comparison of its rules with those of the whole experiment."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from weebill.workflow.rules_of_run import snakemake


def compared(whole: Mapping[str, int], small: Mapping[str, int]) -> str:
    """Return the rules that only one of two runs has, in words; "" if both have the same."""
    missing, superfluous = sorted(whole.keys() - small.keys()), sorted(small.keys() - whole.keys())
    parts = [f"the miniature lacks the rules {', '.join(missing)}"] * bool(missing)
    parts += [f"the miniature has further rules {', '.join(superfluous)}"] * bool(superfluous)
    return "; ".join(parts)


def told(whole: Mapping[str, int], small: Mapping[str, int]) -> Iterator[str]:
    """Yield a table of both runs: jobs by rule."""
    names = list(dict.fromkeys([*whole, *small]))
    width = max(map(len, names), default=0)
    yield f"{'rule':<{width}}  jobs  in the miniature"
    for name in names:
        yield f"{name:<{width}}  {whole.get(name, 0):>4,}  {small.get(name, 0):>4,}"
    totals = (sum(whole.values()), sum(small.values()))
    yield f"{len(whole)} rules and {len(small)} in the miniature; jobs: {totals[0]:,} and {totals[1]:,}"


def run_miniature(config: Path, snakefile: Path, cores: str, minutes: float | None) -> int:
    """Run the workflow, each job on one thread; return its exit code, or 1 after `minutes`."""
    command = snakemake(config, snakefile, "--cores", cores, "--keep-going")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # by `finally` below
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    process = subprocess.Popen(
        command, env=environment, start_new_session=True, preexec_fn=_heed_interrupts
    )
    try:
        return process.wait(None if minutes is None else 60 * minutes)
    except subprocess.TimeoutExpired:
        print(f"stopped after {minutes:g} minutes; the same command continues", file=sys.stderr)
        return 1
    finally:
        _end(process)


def _heed_interrupts() -> None:
    """Let this process be interrupted even if its parent runs in the background, where a shell lets none be."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _end(process: subprocess.Popen) -> None:
    """End a process that still runs, with its jobs."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        process.wait()
