"""The package in separate environments, and its requirements."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from weebill import distributions

ROOT = Path(__file__).parents[2]
BUILD = (
    "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"
)
# Run commands (one line of JSON each), and print exit code, output and errors of each as a line of JSON.
RUN = """
import contextlib, io, json, sys
from weebill.__main__ import main
for line in sys.stdin.read().splitlines():
    output, errors = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"Her dog sleeps.\\n"))
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            code = main(json.loads(line))
        except SystemExit as end:
            code = end.code
    found = [stream.buffer.getvalue().decode() for stream in (output, errors)]
    print(json.dumps([code, *found]), flush=True)
import weebill
print(json.dumps([weebill.__file__, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def run(
    *command: str, cwd: Path, packages: Iterable[Path] = (), **more
) -> subprocess.CompletedProcess:
    """Run a command with the folders `packages` but without this checkout; it must not fail."""
    clean = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, packages))}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def build(hook: str, source: Path, folder: Path) -> Path:
    """Build a wheel of the sources with a hook of setuptools."""
    folder.mkdir()
    run(sys.executable, "-c", BUILD, hook, str(folder), cwd=source)
    (wheel,) = folder.glob("*.whl")
    return wheel


def run_commands(
    python: Path, commands: Sequence[Sequence[str]], cwd: Path, *packages: Path, then: str = ""
) -> tuple[list[tuple[int, str, str]], set[str]]:
    """Return (exit code, output, errors) of each command, and the top-level modules that all imported.

    The library must come from the environment of `python`.  then: Python code that runs after the commands.
    """
    lines = "".join(f"{json.dumps(command)}\n" for command in commands)
    code = RUN.replace("import weebill\n", f"{then}\nimport weebill\n")
    done = run(str(python), "-c", code, cwd=cwd, packages=packages, input=lines)
    *found, last = map(json.loads, done.stdout.splitlines())
    place, modules = last
    assert Path(place).is_relative_to(python.parents[1])
    return [tuple(one) for one in found], set(modules)


def required(requirements: Iterable[Requirement], *extras: str) -> dict[str, metadata.Distribution]:
    """Return all distributions by name that the package needs with some extras, directly or not."""
    package = Requirement(f"weebill[{','.join(extras)}]")
    return distributions.required([package], {"weebill": list(requirements)})


def link(found: Iterable[metadata.Distribution], folder: Path) -> Path:
    """Make a folder of links to the files of distributions; return it."""
    folder.mkdir()
    for one in found:
        for name in {file.parts[0] for file in one.files} - {"..", "__pycache__"}:
            with contextlib.suppress(FileExistsError):  # a package of several distributions
                (folder / name).symlink_to(one.locate_file(name))
    return folder
