"""Install the wheels of dist/ with pip in each Python found, and run the commands of the package's extras.

python -m tests.package.matrix               # the bare package, as continuous integration does
python -m tests.package.matrix metric all    # with extras too; on some Pythons, PyTorch takes some gigabytes

Prints the seconds and the size of each installation, and failed commands; if one failed, the exit code is 1.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from envs.wheels import interpreter
from tests.package.commands import COMMANDS, prepare
from tests.package.installing import ROOT, run, run_commands

VERSIONS = ("3.11", "3.12", "3.13")


def mebibytes(folder: Path) -> int:
    """Return the size of the files in a folder in MiB."""
    return sum(file.lstat().st_size for file in folder.rglob("*")) >> 20


def failures(python: str, wheel: Path, extra: str, folder: Path, texts: Path) -> Iterator[str]:
    """Install the wheel with an extra, print time and size, and yield a line for each failed command."""
    name = f"python {python}, {f'[{extra}]' if extra else 'bare'}"
    own = folder / "venv"
    run(python, "-m", "venv", "--clear", str(own), cwd=folder)
    bare, start = mebibytes(own), time.perf_counter()
    asked = f"{wheel}[{extra}]" if extra else str(wheel)
    # With -I, pip does not take a checkout on PYTHONPATH for an installation.
    install = [own / "bin/python", "-I", "-m", "pip", "install", "-q", "--find-links", wheel.parent]
    done = subprocess.run([*install, asked], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        yield f"{name}: cannot be installed: {done.stderr.strip().splitlines()[-1]}"
        return
    parts = [*COMMANDS] if extra == "all" else ["", *([extra] if extra else [])]
    commands = [command for part in parts for command in COMMANDS[part]]
    work = folder / "work"
    shutil.copytree(texts, work)
    found, _ = run_commands(own / "bin/python", [command.split() for command in commands], work)
    shutil.rmtree(work)
    failed = [command for command, (code, _, _) in zip(commands, found, strict=True) if code]
    good = len(commands) - len(failed)
    size = mebibytes(own) - bare
    print(f"{name}: {seconds:.0f} s, {size:,} MiB, {good} of {len(commands)} commands", flush=True)
    for command, (code, _, errors) in zip(commands, found, strict=True):
        if code:
            yield f"{name}: {command}: {errors.strip()}"


def main(extras: Sequence[str]) -> int:
    """Try every Python; return 1 if a command failed or no Python was found."""
    faults, tried = [], 0
    with tempfile.TemporaryDirectory(prefix="weebill-wheel-") as parent:
        folder = Path(parent)
        (wheel,) = ROOT.glob("dist/weebill-*.whl")
        (folder / "texts").mkdir()
        prepare(folder / "texts")
        for version in VERSIONS:
            python = interpreter(version)
            if python is None:
                print(f"python {version}: not found here, not tried", flush=True)
                continue
            tried += 1
            for extra in ("", *extras):
                faults += failures(python, wheel, extra, folder, folder / "texts")
    print("\n".join(faults))
    return 1 if faults or not tried else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
