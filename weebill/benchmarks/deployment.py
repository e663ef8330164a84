"""Unpacked size of the software that runs a student: our engine and others, each with all requirements.

A container image contains this software besides its base and the student: the Python packages, or the program
`weebill-translate` with the libraries that it loads (`make program`).  Python itself is not counted on any side.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

from weebill.benchmarks import Row
from weebill.distributions import required, unpacked_bytes
from weebill.files import MIB

OPPONENTS = ("ctranslate2",)
PROGRAM = Path("dist/program/bin/weebill-translate")
OURS = ("weebill-runtime",)
OTHERS = {  # each reads its text by SentencePiece, like our engine
    "CTranslate2": ("ctranslate2", "sentencepiece"),
    "PyTorch and transformers": ("torch", "transformers", "sentencepiece"),
}


def run(rounds: int) -> Iterator[Row]:
    """Yield a row for each of our engines and each opponent; `rounds` has no effect, because sizes do not vary."""
    ours = {"weebill-runtime": packages_mib(*OURS)}
    if PROGRAM.is_file():
        ours["weebill-translate"] = program_mib(PROGRAM)
    others = {name: packages_mib(*packages) for name, packages in OTHERS.items()}
    for engine, own in ours.items():
        for name, other in others.items():
            yield Row.of_rounds(f"size of {engine} against {name}", [own], [other], unit="MiB")


def packages_mib(*names: str) -> float:
    """Return the MiB of installed packages and all their requirements."""
    found = required(map(Requirement, names))
    return sum(map(unpacked_bytes, found.values())) / MIB


def program_mib(program: Path) -> float:
    """Return the MiB of a program and of the shared libraries that it loads, including the C library."""
    libraries = {library.resolve() for library in shared_libraries(program)}
    return sum(file.stat().st_size for file in (program, *libraries)) / MIB


def shared_libraries(program: Path) -> list[Path]:
    """Return the shared libraries that a program loads, and its loader."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return list(map(Path, re.findall(r"(/\S+) \(0x", listed)))
