"""Parts of `make test-gpu`: processes, each with a time limit and a log; no part stops another."""

import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.gpu.experiments import KINDS, RESULT, ended
from tests.workflow.running import REPOSITORY
from weebill.files import read_json

KERNELS = "triton"  # test files with this word test kernels, like tests/kernels
OTHERS = ("gpu", "package")  # folders whose tests only mention such words


@dataclass(frozen=True)
class Part:
    """Part of the run: a command, its limit in seconds, and a function that reads its results.

    `read` returns failures by name, as ends of logs, and further values for the JSON.
    """

    name: str
    command: Sequence[str]
    limit: float
    read: Callable[[], tuple[dict[str, str], dict[str, Any]]]


@dataclass
class Outcome:
    """Result of a part: passed, failed or stopped at its limit."""

    name: str
    result: str
    seconds: float
    failures: dict[str, str] = field(default_factory=dict)
    found: dict[str, Any] = field(default_factory=dict)


def experiment(kind: str, folder: Path, device: str, cores: int, limit: float) -> Part:
    """Return the part that runs the shortened experiments of a kind."""
    place = folder / kind
    command = ["-m", "tests.gpu.experiments", kind, str(place), "--device", device]

    def read() -> tuple[dict[str, str], dict[str, Any]]:
        found = read_json(place / RESULT)
        return found.pop("failures"), found

    return Part(kind, [*command, "--cores", str(cores)], limit, read)


def tests(
    name: str, folder: Path, word: str, chosen: str, workers: int, limit: float
) -> Part | None:
    """Return the part that runs tests chosen by an expression of marks, in the files that contain `word`."""
    files = [path for path in sorted(REPOSITORY.glob("tests/**/test_*.py")) if has(path, word)]
    report = folder / f"{name}.xml"
    options = ["-m", chosen, "-p", "no:cacheprovider", "--timeout", "120", f"--junitxml={report}"]
    options += ["--continue-on-collection-errors", "-n", str(workers), "--dist", "loadfile"]

    def read() -> tuple[dict[str, str], dict[str, Any]]:
        return read_tests(report)

    return Part(name, ["-m", "pytest", *options, *map(str, files)], limit, read) if files else None


def has(path: Path, word: str) -> bool:
    """Return True if a test file contains a word, or if it tests kernels and the word is KERNELS."""
    if path.parent.name in OTHERS:
        return False
    own = word == KERNELS and path.parent.name == "kernels"
    return own or word in path.read_text("utf-8")


def read_tests(report: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the failures in pytest's XML, and the numbers of passed, failed and skipped tests."""
    failures: dict[str, str] = {}
    skipped: dict[str, str] = {}
    cases = list(ElementTree.parse(report).iter("testcase"))
    for case in cases:
        name = f"{case.get('classname')}::{case.get('name')}"
        for child in case:
            if child.tag in ("failure", "error"):
                failures[name] = ended(child.text or child.get("message") or "")
            elif child.tag == "skipped":
                skipped[name] = child.get("message") or ""
    passed = len(cases) - len(failures) - len(skipped)
    return failures, {"passed": passed, "failed": len(failures), "skipped": skipped}


def benchmark(part: str, folder: Path, device: str, seconds: int, commit: str | None) -> Part:
    """Return the part that runs a part of `weebill benchmark gpu`, with the peak, on the otherwise idle machine."""
    file = folder / f"{part}.json"
    command = ["-m", "weebill", "benchmark", "gpu", "--json", str(file), "--device", device]
    command += ["--seconds", str(seconds), "--parts", "peak", part]
    command += ["--commit", commit] if commit else []

    def read() -> tuple[dict[str, str], dict[str, Any]]:
        found = read_json(file)
        failures = {name: ended(log) for name, log in found["failures"].items()}
        return failures, {"benchmark": found}

    return Part(part, command, seconds + 60, read)


def experiments(folder: Path, device: str, cores: int, limit: float) -> list[Part]:
    """Return the parts of all kinds of experiments."""
    return [experiment(kind, folder, device, max(2, cores // 3), limit) for kind in KINDS]


def run_together(
    parts: Sequence[Part], folder: Path, variables: Mapping[str, str]
) -> list[Outcome]:
    """Run parts at the same time, each with the log FOLDER/NAME.log; return their outcomes in the given order."""
    running = []
    for part in parts:
        log = folder / f"{part.name}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, *part.command],
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=REPOSITORY,
                env={**os.environ, **variables},
                start_new_session=True,
            )
        running.append((part, process, log, time.monotonic()))
    return [_outcome(*one) for one in running]


def _outcome(part: Part, process: subprocess.Popen, log: Path, began: float) -> Outcome:
    """Wait for a part until its limit, end all its processes, and read its results."""
    stopped = False
    try:
        process.wait(max(0.0, began + part.limit - time.monotonic()))
    except subprocess.TimeoutExpired:
        stopped = True
    seconds = round(time.monotonic() - began, 1)
    _end_group(process)
    said = ended(log.read_text("utf-8", "replace"))
    try:
        failures, found = part.read()
    except (OSError, ElementTree.ParseError, ValueError, KeyError):
        failures, found = {"no result": said}, {}
    if stopped:
        failures[f"stopped after {part.limit:.0f} s"] = said
    elif process.returncode and not failures:
        failures[f"exit {process.returncode}"] = said
    result = "stopped" if stopped else "failed" if failures else "passed"
    return Outcome(part.name, result, seconds, failures, found)


def _end_group(process: subprocess.Popen) -> None:
    """End a part's process and its children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
