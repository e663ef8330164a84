"""A fingerprint of parts of this library, so that a workflow rule reruns when the code it uses changes."""

import ast
import hashlib
from functools import cache
from pathlib import Path

from goldcrest.errors import InputError, nearest

LIBRARY = Path(__file__).parent
OTHERS = (".cpp", ".csv", ".h", ".hpp", ".tsv", ".zst")  # compiled, or read as data


def code_version(*parts: str) -> str:
    """16 hexadecimal digits over the sources of `parts`, e.g. code_version("pruning", "corpus.table").

    A part is a package or module of goldcrest, with dots.  Comments, layout and docstrings of Python do not
    count, so documenting a function reruns nothing.  Raises InputError where a part does not exist.
    """
    digest = hashlib.sha256()
    for part in sorted(set(parts)):
        digest.update(_part_version(part, LIBRARY).encode())
    return digest.hexdigest()[:16]


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
        raise InputError(f"code_version: goldcrest has no part '{part}'{nearest(part, known)}")
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(library).as_posix().encode() + b"\0")
        digest.update(_meaning(file) + b"\0")
    return digest.hexdigest()


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
