"""A fingerprint of parts of this library, so that a workflow rule reruns when the code it uses changes."""

import ast
import hashlib
import statistics
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from weebill.errors import InputError, nearest
from weebill.files import read_json, write_json
from weebill.workflow import import_closure

ROOT = Path(__file__).parents[2]
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


def code_of(script: str, *choices: str, command: str = "") -> str:
    """Fingerprint the code of a workflow script: `code:` and 16 hexadecimal digits.

    Its own statements count, and those of all modules that it can reach by imports, with the compiled sources and
    data tables that these name; comments, layout and docstrings do not, so documenting a function reruns nothing.

    Args:
        script: path below `workflow_scripts`.
        choices: what the rule chose from tables of names, which draw no imports: modules of the library, or
            `module:Name`, with or without the library's name in front.
        command: the words that a shell passes to the script.

    Raises:
        InputError: if the script or a choice does not exist.
    """
    modules = [choice.partition(":")[0] for choice in choices]
    library = f"{import_closure.LIBRARY}."
    modules = [name if name.startswith(library) else f"{library}{name}" for name in modules]
    return _fingerprint(ROOT, f"{import_closure.SCRIPTS}/{script}", *modules, command=command)


def code_of_module(*modules: str) -> str:
    """Fingerprint the code of modules and all that they import, as `code_of` does; of `__name__`, mostly."""
    return _fingerprint(ROOT, *modules)


@cache
def _fingerprint(root: Path, *starts: str, command: str = "") -> str:
    found = _project(root).fingerprint(*starts)
    return PREFIX + hashlib.sha256(f"{found} {command}".encode()).hexdigest()[:16]


_project = cache(
    import_closure.read_project
)  # once a process: later edits do not change what it runs


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


def print_closures(*scripts: str) -> None:
    """Print how many modules each workflow script reaches, or the modules that the given scripts reach."""
    project = _project(ROOT)
    if scripts:
        print(
            "\n".join(
                sorted(project.closure(*(f"{import_closure.SCRIPTS}/{one}" for one in scripts)))
            )
        )
        return
    widths = {name: len(project.closure(name)) - 1 for name in project.scripts()}
    for name, width in sorted(widths.items(), key=lambda item: item[1]):
        print(f"{width:5} {name.removeprefix(f'{import_closure.SCRIPTS}/')}")
    print(f"{statistics.median(widths.values()):5} median of {len(widths)} scripts")


if __name__ == "__main__":
    print_closures(*sys.argv[1:])
