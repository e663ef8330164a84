"""A fingerprint of parts of this library, so that a workflow rule reruns when the code it uses changes."""

import ast
import hashlib
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from weebill.errors import InputError, nearest
from weebill.files import read_json, write_json

LIBRARY = Path(__file__).parents[1]
PREFIX = "code:"  # tells it from other fingerprints among the parameters of a job
OTHERS = (".cpp", ".csv", ".h", ".hpp", ".tsv", ".xz", ".zst")  # compiled, or read as data
# What each file was found to mean, by its size and time of change, as Python itself keeps what it compiled: every
# start of Snakemake, one a job on a cluster, would parse the whole library.
KNOWN = f"__pycache__/code_version.{sys.implementation.cache_tag}.json"
SETTLED = 2_000_000_000  # nanoseconds: what was read sooner after its change may have been changed once more
# The parts that decide what a metric that is a model gives.
SCORING_PARTS = (
    "hugging_face",
    "kernels",
    "metric",
    "kernels.cpu_matmul",
    "pruning.cut",
    "pruning.structure",
    "quantization",
    "tensor_files",
)


def code_version(*parts: str) -> str:
    """`code:` and 16 hexadecimal digits over the sources of `parts`, e.g. code_version("pruning", "corpus.table").

    A part is a package or module of weebill, with dots.  Comments, layout and docstrings of Python do not
    count, so documenting a function reruns nothing.  Raises InputError where a part does not exist.
    """
    digest = hashlib.sha256()
    for part in sorted(set(parts)):
        digest.update(_part_version(part, LIBRARY).encode())
    return PREFIX + digest.hexdigest()[:16]


@cache
def _part_version(part: str, library: Path) -> str:
    """The hash of one package or module below the folder `library`."""
    base = library.joinpath(*part.split("."))
    module = base.with_name(f"{base.name}.py")
    if module.is_file():
        files = [module]
    elif base.is_dir():
        suffixes = (".py", *OTHERS)
        files = sorted(path for path in base.rglob("*") if path.suffix in suffixes)
    else:
        known = [path.stem for path in library.iterdir() if not path.name.startswith("_")]
        raise InputError(f"code_version: weebill has no part '{part}'{nearest(part, known)}")
    known = _known(library)
    before = dict(known)
    digest = hashlib.sha256()
    for file in files:
        name = file.relative_to(library).as_posix()
        known[name] = found = _file_version(file, known.get(name))
        digest.update(f"{name} {found['version']}\0".encode())
    if known != before:
        with suppress(OSError):  # another user's
            write_json(library / KNOWN, known)
    return digest.hexdigest()


@cache
def _known(library: Path) -> dict[str, dict]:
    """What `_file_version` found, by name below `library`; of this and of former processes."""
    with suppress(InputError, OSError):
        return read_json(library / KNOWN)
    return {}


def _file_version(file: Path, known: dict | None) -> dict[str, int | str]:
    """The hash of what a file means, its time of change and its size; `known` where these are the same."""
    status = file.stat()
    stamp = {"changed": status.st_mtime_ns, "size": status.st_size}
    if known and stamp.items() <= known.items() and known["read"] - known["changed"] > SETTLED:
        return known
    version = hashlib.sha256(_meaning(file)).hexdigest()
    return {**stamp, "read": time.time_ns(), "version": version}


def _meaning(file: Path) -> bytes:
    """What of a source file decides its behaviour: the bare statements of Python, all of any other."""
    if file.suffix != ".py":
        return file.read_bytes()
    tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, holders) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree).encode()
