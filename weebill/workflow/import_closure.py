"""Import closures: modules and data files of the library that a workflow script or a module can reach.

Imports inside functions count like others, and so do entries "weebill.package.module:Name" in tables of names that
are loaded on use.  Imports under `if TYPE_CHECKING:` do not count.  A module reaches the packages around it and, if
it looks for files in its own folder, the data files that it names; `weebill_runtime.engines` reaches the sources of
the installed engine.
"""

import ast
import hashlib
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from weebill.errors import InputError, nearest
from weebill.files import read_json, write_json

LIBRARY, SCRIPTS = "weebill", "workflow_scripts"  # folders of the project
ENGINE = "weebill_runtime"  # part of the library; sources of its compiled modules belong to ENGINES
ENGINES = f"{ENGINE}.engines"
ENGINE_FOLDERS = (f"runtime/{ENGINE}", ENGINE)  # in a clone, or where both packages are installed
DATA = (".csv", ".html", ".tsv", ".txt", ".xz", ".zst")
# Modules that closures leave out, together with the modules that only they reach, and the reasons.  A table of names
# may be left out only if each user of the table names the chosen module: a rule in its parameter `uses`, the library
# in an identity.
NEUTRAL = {
    "weebill.configuration.sections.corpora": "settings of corpora, whose values are parameters",
    "weebill.configuration.sections.generation": "settings of generation, whose values are parameters",
    "weebill.configuration.sections.scores": "settings of cleaning, whose values are parameters",
    "weebill.errors": "words the messages of faults",
    "weebill.pruning.methods": "tables of names: a rule names its method's module, a training its companion's",
    "weebill.processes": "tells living makers of files from ended ones",
    "weebill.replaceable": "refuses to replace folders that are not ours",
    "weebill.report.registry": "tables of names: rules of the report name the modules of what they show",
    "weebill.settings": "bounds of settings, whose values are parameters",
    "weebill.workflow.code_version": "computes fingerprints of code",
    "weebill.workflow.gpus": "chooses a job's GPUs",
    "weebill.workflow.import_closure": "computes fingerprints of code",
    "weebill.workflow.job": "writes the log, and ends a job",
    "weebill.workflow.parent_watch": "ends a process whose parent is gone",
    "weebill.workflow.progress": "tells the display how far a job is",
    "weebill.yaml_files": "words the faults of YAML",
    "weebill_runtime": "imports the names of its interface on their first use",
    "weebill_runtime.errors": "words the messages of faults",
    "weebill_runtime.json_text": "words the faults of JSON",
    "weebill_runtime.names": "names of sides and files, which stay",
}
# Without this file, every start of Snakemake (one per job on a cluster) would parse the whole library.  It stores the
# findings in each file with the file's size and time of change, as Python itself does for compiled modules.
KNOWN = f"{LIBRARY}/__pycache__/import_closure.{sys.implementation.cache_tag}.json"
NAME = re.compile(rf"({LIBRARY}\.[\w.]+):\w+")  # entry of a table of names
SETTLED = 2_000_000_000  # nanoseconds after a change; a file read sooner may have changed again


@dataclass(frozen=True)
class Source:
    """Python file with its path in the project, the hash of its statements, and its references.

    imports: modules of the library that it imports or names, and the packages around them.  names: words that may be
    names of data files or folders, or suffixes; empty if the file does not look for files in its own folder.
    """

    path: str
    version: str
    imports: frozenset[str]
    names: frozenset[str]


@dataclass(frozen=True)
class Project:
    """Sources by module name or script path, and hashes of data files by path.

    The key of the hash of the engine's sources is the name of its package.
    """

    sources: Mapping[str, Source]
    data: Mapping[str, str]

    def scripts(self) -> list[str]:
        """List the paths of the workflow scripts."""
        return [name for name in self.sources if name.endswith(".py")]

    def closure(self, *starts: str) -> set[str]:
        """Collect modules or scripts (by path) and all that they reach.  Raises InputError for unknown ones."""
        for start in starts:
            if start not in self.sources:
                hint = nearest(start, self.sources)
                raise InputError(f"code fingerprint: no module or script '{start}'{hint}")
        found: set[str] = set()
        waiting = {name for start in starts for name in _with_packages(start, self.sources)}
        while waiting:
            found |= waiting
            reached = set().union(*(self.sources[name].imports for name in waiting))
            waiting = reached - found - NEUTRAL.keys()
        return found

    def fingerprint(self, *starts: str) -> str:
        """Hash, by SHA-256, the closure of the starts and the data files that it names."""
        lines = []
        for name in sorted(self.closure(*starts)):
            files = [self.data[path] for path in self.data_of(name)]
            lines.append(" ".join([name, self.sources[name].version, *files]))
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def data_of(self, module: str) -> list[str]:
        """List the data files that a module names: by name, by a folder above, or by suffix in its own folder."""
        source = self.sources[module]
        found = [ENGINE] if module == ENGINES else []
        if not source.names:
            return found
        folder = f"{Path(source.path).parent.as_posix()}/"
        for path in self.data:
            if path.startswith(folder):
                parts = path.removeprefix(folder).split("/")
                suffix = Path(path).suffix if len(parts) == 1 else None
                if not source.names.isdisjoint([*parts, suffix]):
                    found.append(path)
        return found


def read_project(root: Path) -> Project:
    """Read the library and the workflow scripts below `root`; unchanged files are not parsed again."""
    # Other versions of this reader may find other references.
    reader = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    known: dict[str, dict[str, Any]] = {}
    with suppress(InputError, OSError, AttributeError):  # missing, damaged, or not readable
        kept = read_json(root / KNOWN)
        known = kept["files"] if kept.get("reader") == reader else {}
    found = {
        path: _read(root, path, known.get(path))
        for folder in (LIBRARY, *ENGINE_FOLDERS, SCRIPTS)
        for path in _files(root, folder)
    }
    if found != known:
        with suppress(OSError):  # the file may belong to another user
            write_json(root / KNOWN, {"reader": reader, "files": found})
    modules = {_name(path): one for path, one in found.items() if path.endswith(".py")}
    sources = {}
    for name, one in modules.items():
        reached = (_with_packages(place, modules) for place in one["imports"])
        imports = frozenset(chain.from_iterable(reached))
        sources[name] = Source(one["path"], one["version"], imports, frozenset(one["names"]))
    data = {path: one["version"] for path, one in found.items() if not path.endswith(".py")}
    return Project(sources, {ENGINE: _engine_version(), **data})


def _engine_version() -> str:
    """Return the hash of the sources that the installed engine was compiled from; empty if there is none."""
    try:
        compiled = find_spec(f"{ENGINE}._processor")
    except ModuleNotFoundError:
        return ""
    if compiled is None or compiled.origin is None:
        return ""
    record = Path(compiled.origin).with_name("sources.sha256").read_text(encoding="utf-8")
    lines = [line for line in record.splitlines() if not line.endswith(".py")]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _with_packages(name: str, modules: Mapping[str, Any]) -> list[str]:
    """List the module that a dotted name denotes, or that contains it, and the packages around the module."""
    ends = [index for index, letter in enumerate(f"{name}.") if letter == "."]
    return [name[:end] for end in ends if name[:end] in modules]


def _files(root: Path, folder: str) -> Iterator[str]:
    """Yield the paths of Python and data files below a folder of the project."""
    for place, folders, files in os.walk(root / folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        base = Path(place).relative_to(root).as_posix()
        yield from (f"{base}/{name}" for name in sorted(files) if name.endswith((".py", *DATA)))


def _name(path: str) -> str:
    """Return the dotted name of a module of the library, or the unchanged path of a script."""
    module = path.removeprefix("runtime/")
    if not module.startswith((f"{LIBRARY}/", f"{ENGINE}/")):
        return path
    return module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _read(root: Path, path: str, known: dict[str, Any] | None) -> dict[str, Any]:
    """Read hash and references of a file, with its size and time of change; return `known` if it is up to date."""
    file = root / path
    status = file.stat()
    stamp = {"changed": status.st_mtime_ns, "size": status.st_size}
    if known and stamp.items() <= known.items() and known["read"] - known["changed"] > SETTLED:
        return known
    content = file.read_bytes()
    found: dict[str, Any] = {"imports": [], "names": []}
    if path.endswith(".py"):
        tree = ast.parse(content, filename=str(file))
        holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        for node in ast.walk(tree):  # remove docstrings
            if isinstance(node, holders) and ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        imports = sorted(set(_imports(tree, path)))
        found = {"imports": imports, "names": sorted(_names(tree))}
        content = ast.unparse(tree).encode()
    version = hashlib.sha256(content).hexdigest()
    return {"path": path, **stamp, "read": time.time_ns(), "version": version, **found}


def _imports(node: ast.AST, path: str) -> Iterator[str]:
    """Yield the library's modules that a tree imports or has in a table.  Raises InputError for a relative import."""
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
        yield from filter(_is_ours, names)
    elif isinstance(node, ast.ImportFrom):
        if node.level:
            raise InputError(f"{path}, line {node.lineno}: relative import; name the whole package")
        if _is_ours(str(node.module)):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str) and (entry := NAME.fullmatch(node.value)):
            yield entry[1]
    elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        children = node.orelse
    for child in children:
        yield from _imports(child, path)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in (LIBRARY, ENGINE)


def _names(tree: ast.Module) -> set[str]:
    """Return the strings of a tree if it looks for files in its own folder by `__file__` or `resources.files`."""
    nodes = [*ast.walk(tree)]
    beside = (isinstance(node, ast.Name) and node.id == "__file__" for node in nodes)
    packed = (isinstance(node, ast.Attribute) and node.attr == "files" for node in nodes)
    if not any(beside) and not any(packed):
        return set()
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str) and len(value) < 100}
