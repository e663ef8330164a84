"""The C++ extension, compiled on first use for an instruction set that the processor has.

`vnni`: AVX-512 with products of bytes.  `amx`: the same, products by the matrix unit.  `avx2`: any other x86
processor of the last ten years.
"""

import hashlib
import logging
import os
import platform
import shutil
from functools import cache
from pathlib import Path
from types import ModuleType

import torch

from goldcrest.errors import InputError, nearest

SOURCES = Path(__file__).parent / "csrc"
AVX512 = ("avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_vnni", "avx2", "fma")
NEEDS = {  # flags of the processor, as Linux names them; the fastest first
    "amx": (*AVX512, "amx_int8", "amx_tile"),
    "vnni": AVX512,
    "avx2": ("avx2", "fma"),
}
COMPILER = ["-O3", "-std=c++20", "-fno-math-errno", "-fno-trapping-math", "-Wno-ignored-attributes"]


def available() -> list[str]:
    """The instruction sets that this processor has, the fastest first; none on other than x86 Linux."""
    found = _processor_flags()
    return [isa for isa, needed in NEEDS.items() if found.issuperset(needed)]


@cache
def extension(isa: str) -> ModuleType:
    """The extension for an instruction set; compiled, once, where torch's cache has it not yet.

    Raises InputError where the instruction set is unknown, or there is no compiler.
    """
    if isa not in NEEDS:
        raise InputError(f"instruction set '{isa}'{nearest(isa, NEEDS)}")
    import ninja
    from torch.utils.cpp_extension import load

    flags = COMPILER + [f"-m{flag.replace('_', '')}" for flag in NEEDS[isa] if "amx" not in flag]
    if isa == "amx":
        flags.append("-DRUNTIME_BRGEMM")
    files = sorted(SOURCES.iterdir())
    name = f"goldcrest_runtime_{isa}_{_digest(files, flags)}"
    compiler = os.environ.get("CXX", "c++")  # as torch chooses it
    if not shutil.which(compiler):
        raise InputError(
            f"the runtime is compiled on first use, and '{compiler}' is no compiler here; install one "
            "(Debian: apt install g++) or name it in CXX"
        )
    os.environ["PATH"] = os.pathsep.join([ninja.BIN_DIR, os.environ.get("PATH", "")])
    logging.info("runtime for %s: compiling where it is not in torch's cache (a minute, once)", isa)
    return load(name, [str(file) for file in files if file.suffix == ".cpp"], extra_cflags=flags)


def _digest(files: list[Path], flags: list[str]) -> str:
    """A name for the sources, the flags and torch: another of any of them is compiled anew."""
    content = hashlib.sha256(" ".join([torch.__version__, *flags]).encode())
    for file in files:
        content.update(file.name.encode() + b"\0" + file.read_bytes())
    return content.hexdigest()[:16]


def _processor_flags() -> set[str]:
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return set()
    with Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip() == "flags":
                return set(value.split())
    return set()
