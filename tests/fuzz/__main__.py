"""Damage files at random, and read them in separate processes: `python -m tests.fuzz --minutes 10`.

For a given seed, case n of a reader is always the same damage.  It is a finding if the process dies, takes too much
time or memory, or raises an error that is not one line for the user; then the file is kept, and the exit code is 1.
"""

import argparse
import faulthandler
import json
import logging
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from random import Random

from tests.fuzz.mutations import damaged
from tests.fuzz.readers import READERS, Reader
from tests.reliability import provenance
from weebill.errors import explain

SECONDS = 30  # for one case
MEMORY = 6 << 30  # bytes of address space in addition to that of the start
AT_ONCE = 200  # cases per process


def main() -> int:
    """Fuzz all or some readers in turn until the time is over; print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, metavar="N", help="default 10")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="default 1")
    parser.add_argument("--readers", nargs="*", default=list(READERS), metavar="NAME")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), metavar="FOLDER")
    parser.add_argument("--json", type=Path, metavar="FILE", help="counts, for docs/reliability.md")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    limits = {"seconds": SECONDS, "bytes": MEMORY}
    run = {**provenance(given.seed), "minutes": given.minutes, "limits": limits}
    counts = {}
    with tempfile.TemporaryDirectory() as place:
        for name in given.readers:
            folder = Path(place, name.replace(" ", "-"))
            folder.mkdir()
            seconds = 60 * given.minutes / len(given.readers)
            counts[name] = fuzz(name, READERS[name], folder, seconds, given.seed, given.keep)
            print(
                f"{name}: {counts[name]['tried']:,} tried, {len(counts[name]['findings'])} findings",
                flush=True,
            )
    if given.json:
        given.json.write_text(json.dumps({**run, "readers": counts}, indent=1) + "\n")
    return int(any(one["findings"] for one in counts.values()))


def fuzz(
    name: str,
    reader: Reader,
    folder: Path,
    seconds: float,
    seed: int,
    keep: Path,
    most: float = math.inf,
) -> dict:
    """Fuzz a reader for some time; return the number of cases by outcome, and the first case of each finding.

    folder: for intact and damaged files.  keep: folder for files of findings.  most: number of cases after which it
    ends early.
    """
    (folder / "sound").mkdir()
    reader.make(folder / "sound")
    shutil.copytree(folder / "sound", folder / "read")
    reader.read(folder / "read")  # intact files must be read; this also imports modules
    end, case = time.monotonic() + seconds, 0
    tally = {"tried": 0, "accepted": 0, "refused": 0}
    findings: dict[str, int] = {}
    while time.monotonic() < end and case < most:
        for outcome, told in _outcomes(*_start(reader, folder, seed, name, case, end)):
            tally["tried"] += 1
            if outcome in tally:
                tally[outcome] += 1
            elif told not in findings:
                findings[told] = case
                place = keep / f"{name.replace(' ', '-')}-{seed}-{case}"
                _keep(_damage(reader, folder, place, f"{seed} {name} {case}"), told)
            case += 1
    return {**tally, "findings": findings}


def _start(
    reader: Reader, folder: Path, seed: int, name: str, case: int, end: float
) -> tuple[int, int]:
    """Fork a process that reads the next cases; return it and the pipe with one line for each case."""
    answers, told = os.pipe()
    process = os.fork()
    if process:
        os.close(told)
        return process, answers
    faulthandler.disable()  # the parent reports how this process ends
    with open(os.devnull, "r+") as null, open(told, "w", buffering=1) as pipe:
        for stream in (0, 1, 2):
            os.dup2(null.fileno(), stream)
        _bound_memory()
        code = 1
        try:
            for number in range(case, case + AT_ONCE):
                if number > case and time.monotonic() > end:
                    break
                place = _damage(reader, folder, folder / "damaged", f"{seed} {name} {number}")
                pipe.write(json.dumps(_read(reader, place)) + "\n")
            code = 0
        finally:
            os._exit(
                code
            )  # never through the parent's blocks, which would remove the files of all cases


def _bound_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _damage(reader: Reader, folder: Path, place: Path, case: str) -> Path:
    """Write the files of a case to `place`: one is damaged, the others are intact."""
    random = Random(case)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder / "sound", place)
    files = sorted({path for one in reader.damaged for path in place.glob(one) if path.is_file()})
    chosen = random.choice(files)
    chosen.write_bytes(damaged(chosen.read_bytes(), chosen.name, random))
    return place


def _read(reader: Reader, place: Path) -> tuple[str, str]:
    """Return the outcome of reading a case: accepted, refused in a line, or a finding and its place in the code."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS)  # ends the process
    try:
        reader.read(place)
        return "accepted", ""
    except BaseException as error:  # panics of Rust are no Exceptions
        line = explain(error)
        if line is not None:
            return "refused", line
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if "weebill" in frame.filename] or frames
        return (
            "raised",
            f"{type(error).__name__} at {Path(own[-1].filename).name}:{own[-1].lineno}: {str(error)[:120]}",
        )
    finally:
        signal.alarm(0)


def _outcomes(process: int, answers: int):
    """Yield (outcome, text) of each case that the process reads; if it dies, this is the current case's outcome."""
    with open(answers) as pipe:
        for line in pipe:
            yield json.loads(line)
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        yield "died", "took too long" if number == signal.SIGALRM else f"ended by signal {number}"
    elif os.WEXITSTATUS(status):
        yield "died", f"exit code {os.WEXITSTATUS(status)}"


def _keep(place: Path, told: str) -> None:
    """Write a note about a finding beside its files, and print it."""
    (place / "FINDING").write_text(f"{told}\n")
    print(f"{place}: {told}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
