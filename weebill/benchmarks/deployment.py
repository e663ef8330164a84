"""Size of what runs a student, unpacked: our engine with all that it requires, against others with all of theirs.

That is what a container image adds to its base and to the student itself: the Python packages, or the program
`weebill-translate` with the libraries that it loads (`make program`).  Python itself is on no side.
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
OTHERS = {  # each reads its text by SentencePiece, as our engine does
    "CTranslate2": ("ctranslate2", "sentencepiece"),
    "PyTorch and transformers": ("torch", "transformers", "sentencepiece"),
}


def run(rounds: int) -> Iterator[Row]:
    """Weigh once, whatever `rounds`: sizes do not vary.  Yield a row for each of our engines and each opponent."""
    ours = {"weebill-runtime": packages_mib(*OURS)}
    if PROGRAM.is_file():
        ours["weebill-translate"] = program_mib(PROGRAM)
    others = {name: packages_mib(*packages) for name, packages in OTHERS.items()}
    for engine, own in ours.items():
        for name, other in others.items():
            yield Row.of_rounds(f"size of {engine} against {name}", [own], [other], unit="MiB")


def packages_mib(*names: str) -> float:
    """Return the MiB of installed packages and of all that they require."""
    found = required(map(Requirement, names))
    return sum(map(unpacked_bytes, found.values())) / MIB


def program_mib(program: Path) -> float:
    """Return the MiB of a program and of the shared libraries that it loads, the C library among them."""
    libraries = {library.resolve() for library in shared_libraries(program)}
    return sum(file.stat().st_size for file in (program, *libraries)) / MIB


def shared_libraries(program: Path) -> list[Path]:
    """Return the shared libraries that a program loads, and its loader."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return list(map(Path, re.findall(r"(/\S+) \(0x", listed)))
