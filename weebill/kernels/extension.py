"""C++ extension, compiled on first use for an instruction set of the processor.

`vnni`: AVX-512 with byte products.  `amx`: the same with products by the matrix unit.  `avxvnni`: byte products in
registers half as wide, found in desktops.  `avx2`: any other x86 processor of the last ten years.
"""

import ctypes
import fcntl
import hashlib
import importlib.util
import logging
import os
import platform
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from weebill.durable import sync_tree
from weebill.errors import InputError, nearest
from weebill.files import sha256_file, write_text

PORTABLE = "portable"  # what stands for PyTorch where an instruction set is named
SOURCES = Path(__file__).parent / "csrc"
AVX512 = ("avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_vnni", "avx2", "fma")
NEEDS = {  # flags of the processor, as Linux names them; the fastest first
    "amx": (*AVX512, "amx_tile", "amx_int8", "amx_bf16"),
    "vnni": AVX512,
    "avxvnni": ("avx_vnni", "avx2", "fma"),
    "avx2": ("avx2", "fma"),
}
BFLOAT16 = "avx512_bf16"  # made use of beside AVX-512 where the processor has it
BUILT = "built"  # a file: size and SHA-256 of the library that was built, which was last used at the file's time
IN_USE = "in_use"  # the file that is locked
FULL = ("No space left on device", "Disk quota exceeded")  # as compilers and linkers say it
FORGOTTEN = 30 * 24 * 3600  # seconds after its last use that a build of other sources is removed
COMPILER = [
    "-O3",
    "-std=c++20",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fvisibility=hidden",  # or extensions of several sets, in one process, would share the variables of one
    "-Wno-ignored-attributes",
]


def available() -> list[str]:
    """Return this process's instruction sets, the fastest first; ask Linux for permission to use a matrix unit."""
    found = _processor_flags()
    sets = [isa for isa, needed in NEEDS.items() if found.issuperset(needed)]
    return [isa for isa in sets if isa != "amx" or _may_use_matrix_unit()]


def fastest() -> str:
    """Return the fastest instruction set that the extension can be built for; `portable`, with a warning, if none."""
    found, obstacle = available(), "this processor has none of its instruction sets"
    if found:
        try:
            folder = _plan(found[0]).folder
            if compiler() or _is_built(folder):
                return found[0]
            obstacle = "there is no C++ compiler to build it (Debian: apt install g++)"
        except InputError as error:
            obstacle = str(error)
    logging.warning("the compiled runtime is left out, PyTorch computes: %s", obstacle)
    return PORTABLE


def check_instruction_set(name: str) -> None:
    """Raise InputError where a name is no instruction set's, nor `portable`, or the machine lacks the set."""
    if name not in (*NEEDS, PORTABLE):
        raise InputError(_no_such_set(name))
    found = [*available(), PORTABLE]
    if name not in found:
        has = f"it has {', '.join(found)}"
        raise InputError(f"instruction set '{name}': this machine lacks it; {has}")


def has_bfloat16(isa: str) -> bool:
    """Return True if the extension for an instruction set multiplies bfloat16 numbers on this processor."""
    return "avx512f" in NEEDS[isa] and BFLOAT16 in _processor_flags()


@cache
def extension(isa: str) -> ModuleType:
    """Return the extension for an instruction set, compiled if no cache has it: TORCH_EXTENSIONS_DIR or the user's.

    Raises InputError if the instruction set is unknown, there is no compiler, it fails, or nothing can be written.
    It does not check that the machine has the set: for `amx` without a matrix unit it builds the same code on tiles
    in plain memory, for tests only.
    """
    if isa not in NEEDS:
        raise InputError(_no_such_set(isa))
    build = _plan(isa)
    with _locked(build.folder):
        if not _is_built(build.folder):
            _build(build, isa)
            for other in build.folder.parent.glob("weebill_runtime_*"):
                built = other / BUILT
                if built.exists() and time.time() - built.stat().st_mtime > FORGOTTEN:
                    shutil.rmtree(other, ignore_errors=True)
        with suppress(OSError):  # another user's
            os.utime(build.folder / BUILT)
        return _import(build.folder)


def compiler() -> str | None:
    """Return the path of the C++ compiler that would be used, if it exists; chosen as torch does."""
    return shutil.which(os.environ.get("CXX", "c++"))


def _no_such_set(name: str) -> str:
    known = [*NEEDS, PORTABLE]
    remedy = nearest(name, known) or f"; there are {', '.join(known)}"
    return f"no instruction set '{name}'{remedy}"


class _Build(NamedTuple):
    folder: Path  # its name is the module's
    files: list[Path]
    flags: list[str]


def _plan(isa: str) -> _Build:
    used = [*NEEDS[isa], *([BFLOAT16] if has_bfloat16(isa) else [])]
    flags = COMPILER + [f"-m{flag.replace('_', '')}" for flag in used if "amx" not in flag]
    if isa == "amx":
        flags.append("-DMATRIX_UNIT")
        if isa not in available():  # so that tests need no matrix unit
            flags.append("-DTILES_IN_MEMORY")
    flags += os.environ.get("WEEBILL_CXXFLAGS", "").split()  # as of `make sanitize`
    files = sorted(SOURCES.iterdir())
    return _Build(_cache() / f"weebill_runtime_{isa}_{_digest(files, flags)}", files, flags)


def _state(folder: Path) -> str:
    """Return size and SHA-256 of a folder's library (milliseconds for its megabyte); both 0 if it is missing."""
    library = folder / f"{folder.name}.so"
    there = library.is_file()
    return f"{library.stat().st_size} {sha256_file(library)}\n" if there else "0 0\n"


def _is_built(folder: Path) -> bool:
    """Return True if a library is there as it was built: to load half of one would end this process."""
    with suppress(OSError, UnicodeDecodeError):
        return (folder / BUILT).read_text(encoding="ascii") == _state(folder)
    return False


def _build(build: _Build, isa: str) -> None:
    import ninja
    from torch.utils.cpp_extension import load

    if not compiler():
        raise InputError(
            f"the runtime is compiled on first use, and '{os.environ.get('CXX', 'c++')}' is no compiler here; "
            "install one (Debian: apt install g++) or name it in CXX"
        )
    os.environ["PATH"] = os.pathsep.join([ninja.BIN_DIR, os.environ.get("PATH", "")])
    logging.warning("compiling the runtime for %s: half a minute, once", isa)
    # Remove an unfinished build: ninja would keep half a library, and torch wait for the lock of a killed build.
    for entry in build.folder.iterdir():
        if entry.name != IN_USE:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    sources = [str(file) for file in build.files if file.suffix == ".cpp"]
    options = {"extra_cflags": build.flags, "extra_ldflags": build.flags}
    try:
        load(build.folder.name, sources, **options, build_directory=str(build.folder))
        sync_tree(build.folder)
        write_text(build.folder / BUILT, _state(build.folder))
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        raise InputError(_failure(build.folder, isa, error)) from error


def _failure(folder: Path, isa: str, error: Exception) -> str:
    """Return one line with the cause of a failed build and the remedy; log the compiler's messages, if any."""
    text = str(error).strip() or type(error).__name__
    if any(words in text for words in FULL):
        places = dict.fromkeys([str(folder.parent), os.environ.get("TMPDIR", "/tmp")])
        free = [f"{place} {shutil.disk_usage(place).free / 2**20:,.1f} MiB" for place in places]
        return (
            f"{folder.parent}: the runtime did not compile for {isa}, the disk is full (free: {', '.join(free)}); "
            "free 20 MiB, or name other folders in TORCH_EXTENSIONS_DIR and TMPDIR"
        )
    first, _, messages = text.partition("\n")
    if messages:
        logging.warning(messages)
        first += "; the compiler's messages are above"
    return (
        f"the runtime did not compile for {isa} ({first}); it needs GCC 11 or newer and Python's headers "
        "(Debian: apt install g++ python3-dev)"
    )


def _import(folder: Path) -> ModuleType:
    import torch  # noqa: F401  loads the libraries that the extension is linked with

    spec = importlib.util.spec_from_file_location(folder.name, folder / f"{folder.name}.so")
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:  # damaged, or of a machine with other libraries
        raise InputError(
            f"{folder}: the compiled runtime cannot be loaded ({error}); remove this folder, and it is "
            "compiled anew"
        ) from error
    return module


def _cache() -> Path:
    """Return the folder of all builds.  Raises InputError where none is named and the user has no home folder."""
    if named := os.environ.get("TORCH_EXTENSIONS_DIR"):
        return Path(named)
    try:
        return Path.home() / ".cache/weebill"
    except RuntimeError as error:  # as of a container's user without a name
        raise InputError(
            "the compiled runtime cannot be kept (this user has no home folder); name a folder that can be written "
            "and locked in TORCH_EXTENSIONS_DIR"
        ) from error


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process build at a time; a killed one leaves no lock.  Raises InputError if nothing can be written."""
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context((folder / IN_USE).open("w"))
            fcntl.flock(file, fcntl.LOCK_EX)  # which file systems of a network may not know
        except OSError as error:
            if not _is_built(folder):  # by another user: nothing to write
                raise InputError(
                    f"{folder}: the compiled runtime cannot be kept there ({error.strerror}); name a folder that can "
                    "be written and locked in TORCH_EXTENSIONS_DIR"
                ) from error
        yield


def _digest(files: list[Path], flags: list[str]) -> str:
    """Name a build, so that a change of sources, flags, torch or Python compiles anew."""
    python = sysconfig.get_config_var("SOABI") or ""
    content = hashlib.sha256(" ".join([version("torch"), python, *flags]).encode())
    for file in files:
        content.update(file.name.encode() + b"\0" + file.read_bytes())
    return content.hexdigest()[:16]


@cache
def _may_use_matrix_unit() -> bool:
    """Ask Linux for the matrix unit (AMX); once granted, the process and its forks keep it."""
    arch_prctl, request_permission, tile_data = 158, 0x1023, 18
    ask = ctypes.CDLL(None).syscall
    ask.argtypes, ask.restype = [ctypes.c_long] * 3, ctypes.c_long
    return ask(arch_prctl, request_permission, tile_data) == 0


def _processor_flags() -> set[str]:
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return set()
    with Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip() == "flags":
                return set(value.split())
    return set()
