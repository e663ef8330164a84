"""Fingerprints of code, so that a workflow rule runs again when its code changes.

`python -m weebill.workflow.code_version [SCRIPT …]` prints the modules that scripts reach.
"""

import hashlib
import re
import statistics
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from shlex import quote
from typing import Any

from weebill.workflow.import_closure import LIBRARY, SCRIPTS, read_project

ROOT = Path(__file__).parents[2]
PREFIX = "code:"  # distinguishes it from other parameters of a job
IN_SHELL = re.compile(rf"{SCRIPTS}/([\w/]+\.py)\S*(.*)", re.DOTALL)  # the path may be quoted


def code_of(script: str, *choices: str, command: str = "") -> str:
    """Fingerprint the code of a workflow script: `code:` and 16 hexadecimal digits.

    It covers the statements of the script (a path below `workflow_scripts`) and of all modules that it can reach by
    imports, with their compiled sources and data tables, but not comments, layout and docstrings.
    choices: modules of the library, or `module:Name`, that the rule chose from tables of names.
    command: words that a shell passes to the script.  Raises InputError if the script or a choice does not exist.
    """
    modules = (choice.partition(":")[0].removeprefix(f"{LIBRARY}.") for choice in choices)
    names = (f"{LIBRARY}.{module}" for module in modules)
    return _fingerprint(ROOT, f"{SCRIPTS}/{script}", *names, command=command)


def code_of_module(*modules: str) -> str:
    """Fingerprint modules of the library, usually `__name__`, and all that they import, like `code_of`."""
    return _fingerprint(ROOT, *(name for name in modules if name.startswith(f"{LIBRARY}.")))


def code_of_all() -> str:
    """Fingerprint all workflow scripts and modules of the library, like `code_of`."""
    return _fingerprint(ROOT, *_project(ROOT).sources)


@cache
def _fingerprint(root: Path, *starts: str, command: str = "") -> str:
    found = _project(root).fingerprint(*starts)
    return PREFIX + hashlib.sha256(f"{found} {command}".encode()).hexdigest()[:16]


# Read once per process: later edits do not change the code that the process runs.
_project = cache(read_project)


def set_code(rules: Iterable[Any], repository: Path) -> None:
    """Set the parameter `code` of each rule that runs a script of the repository to the fingerprint of its code.

    A rule's parameter `uses` names the modules that it chose from tables of names, as a list or a function of
    wildcards.
    """
    for rule in rules:
        script, command = script_of(rule, repository)
        if script is not None and rule.params.get("code") is None:
            uses, code = rule.params.get("uses", []), partial(code_of, script, command=command)
            rule.set_params(code=_chosen(code, uses) if callable(uses) else code(*uses))


def script_of(rule: Any, repository: Path) -> tuple[str | None, str]:
    """Return the script of the repository that a rule runs, if any, and the words that a shell passes to it."""
    if rule.script:
        # The path of a file in a git repository is relative to the repository's folder.
        path = (repository / rule.basedir.join(rule.script).path).resolve()
        folder = (repository / SCRIPTS).resolve()
        return (str(path.relative_to(folder)) if path.is_relative_to(folder) else None), ""
    shell = rule.shellcmd or ""
    found = IN_SHELL.search(shell) if library_path(repository) in shell else None
    return found.groups() if found else (None, "")


def library_path(repository: Path) -> str:
    """Return the setting of PYTHONPATH with which any Python in a shell command finds the library."""
    return f"PYTHONPATH={quote(str(repository))}"


def _chosen(code: Callable[..., str], uses: Callable[[Any], list[str]]) -> Callable[[Any], str]:
    return lambda wildcards: code(*uses(wildcards))


def print_closures(*scripts: str) -> None:
    """Print how many modules each workflow script reaches or, for given scripts, these modules."""
    project = _project(ROOT)
    if scripts:
        found = project.closure(*(f"{SCRIPTS}/{script}" for script in scripts))
        print("\n".join(sorted(found)))
        return
    widths = {name: len(project.closure(name)) - 1 for name in project.scripts()}
    for name, width in sorted(widths.items(), key=lambda item: item[1]):
        print(f"{width:5} {name.removeprefix(f'{SCRIPTS}/')}")
    print(f"{statistics.median(widths.values()):5} median of {len(widths)} scripts")


if __name__ == "__main__":
    print_closures(*sys.argv[1:])
