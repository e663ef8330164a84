"""Test everything that needs a GPU on one GPU: tests, shortened experiments, and the benchmark.

python -m tests.gpu --json FILE [--parts NAME …] [--device cpu]

It needs Python 3.11 or newer, PyTorch 2.11 to 2.13 for CUDA, transformers 5.17 to 5.23, and the packages of
envs/gpu.txt, but no network.  Tests and experiments run at the same time, then the benchmark runs alone.  The table
on stdout and the JSON have all parts, even failed ones; if a part failed, the exit code is 1.  `--device cpu`
rehearses all parts, in tiny sizes, on a machine without a GPU.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.gpu.parts import KERNELS, Outcome, Part, benchmark, experiments, run_together, tests
from weebill.benchmarks.gpu_figures import together as joined_figures
from weebill.files import write_json

ACCEPTED = {
    "torch": ((2, 11), (2, 13)),
    "transformers": ((5, 17), (5, 23)),
}  # first and last version
LIMIT = 210  # seconds for each part except the benchmark
BENCHMARK = 200  # seconds for the benchmark
SHARES = {"training": 0.55, "decoding": 0.28, "scoring": 0.17}  # shares of this time
SHARED = 8  # jobs that may use the GPU at once


def main() -> int:
    """Run all or the chosen parts; print the table and write the JSON; return 1 if a part failed."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.gpu")
    add = parser.add_argument
    add("--json", type=Path, default=Path("gpu.json"), metavar="FILE", help="default gpu.json")
    add("--device", choices=["cuda", "cpu"], default="cuda")
    add("--parts", nargs="+", metavar="NAME", help="tests, kernels, translation, metric, …")
    add("--seconds", type=int, default=BENCHMARK, help="time for the benchmark")
    add("--limit", type=int, default=LIMIT, help="seconds of each other part")
    add("--commit", metavar="TEXT", help="commit of this code, for a copy without its history")
    given = parser.parse_args()
    if given.device == "cuda" and (missing := no_card()):
        print(missing, file=sys.stderr)
        return 1
    began, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix="weebill-gpu-"))
    cores = len(os.sched_getaffinity(0))
    accelerator = "gpu" if given.device == "cuda" else "rehearsal"
    together = [
        tests("tests", folder, "mark.gpu", "gpu", min(4, cores), given.limit),
        tests("kernels", folder, KERNELS, "not gpu and not workflows", min(4, cores), given.limit),
        *experiments(folder, accelerator, cores, given.limit),
    ]
    # One after the other, in separate processes: an error of the GPU ends all work of a process on it.
    alone = [
        [benchmark(part, folder, given.device, round(share * given.seconds), given.commit)]
        for part, share in SHARES.items()
    ]
    outcomes: list[Outcome] = []
    for parts in (together, *alone):
        chosen = [part for part in parts if part and wanted(part, given.parts)]
        outcomes += run_together(chosen, folder, environment(given.device))
    measured = [one.found.pop("benchmark") for one in outcomes if "benchmark" in one.found]
    joined = joined_figures(measured) if measured else None
    found = {
        "versions": versions(),
        "accepted": accepted(),
        "device": given.device,
        "seconds": round(time.monotonic() - began, 1),
        "passed": all(outcome.result == "passed" for outcome in outcomes),
        "parts": [asdict(outcome) for outcome in outcomes],
        "benchmark": None if joined is None else asdict(joined),
    }
    write_json(given.json, found)
    shutil.rmtree(folder, ignore_errors=True)
    print("\n".join([*table(outcomes), *(joined.table if joined else ())]))
    print(
        f"{found['seconds']:.0f} s; {given.json}; " + ", ".join(map(" ".join, versions().items()))
    )
    return 0 if found["passed"] else 1


def wanted(part: Part, names: Sequence[str] | None) -> bool:
    """Return True if a part is chosen, or if no part is chosen."""
    return names is None or part.name in names


def no_card() -> str | None:
    """Return an error line if PyTorch finds no GPU here."""
    import torch

    if torch.cuda.is_available():
        return None
    return f"no CUDA device for PyTorch {torch.__version__}; --device cpu rehearses without one"


def environment(device: str) -> dict[str, str]:
    """Return the environment of every part: one thread per job, and a GPU shared by several small jobs."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] if device == "cuda" else ""
    return {
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")]).strip(
            ":"
        ),
        # A process that only asks for a GPU must not start to use it, because then its forks could not.
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        **({"WEEBILL_GPUS": ",".join([first] * SHARED)} if first else {}),
    }


def versions() -> dict[str, str]:
    """Return the versions of the software on which results depend."""
    names = ("torch", "transformers", "numpy", "lightning", "snakemake")
    return {"python": sys.version.split()[0], **{name: version(name) for name in names}}


def accepted() -> dict[str, bool]:
    """Return for each library with a version range: True if this machine's version is in the range."""
    found = {}
    for name, (first, last) in ACCEPTED.items():
        own = tuple(int(part) for part in version(name).split("+")[0].split(".")[:2])
        found[name] = first <= own <= last
    return found


def table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the lines of the table: each part, and its failures with the last lines of their logs."""
    for outcome in outcomes:
        note = note_of(outcome.found)
        yield f"{outcome.name:<14}{outcome.result:<9}{outcome.seconds:>7.1f} s  {note}"
        for name, log in outcome.failures.items():
            last = next((line for line in reversed(log.splitlines()) if line.strip()), "")
            yield f"    {name}: {last.strip()[:160]}"


def note_of(found: dict[str, Any]) -> str:
    """Return a short text about what a part found."""
    if "passed" in found:
        return (
            f"{found['passed']} passed, {found['failed']} failed, {len(found['skipped'])} skipped"
        )
    if "rules" in found:
        longest = sorted(found["rules"].items(), key=lambda item: -item[1])[:3]
        shown = ", ".join(f"{rule} {seconds:.0f} s" for rule, seconds in longest)
        return f"{len(found['rules'])} rules with a benchmark; the longest: {shown}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
