"""Fingerprints of code, so that a workflow rule reruns when the code it uses changes.

`python -m weebill.workflow.code_version [SCRIPT …]` prints what scripts reach.
"""

import hashlib
import statistics
import sys
from functools import cache
from pathlib import Path

from weebill.workflow.import_closure import LIBRARY, SCRIPTS, read_project

ROOT = Path(__file__).parents[2]
PREFIX = "code:"  # distinguishes it from other fingerprints among the parameters of a job


def code_of(script: str, *choices: str, command: str = "") -> str:
    """Fingerprint the code of a workflow script: `code:` and 16 hexadecimal digits.

    It covers the statements of the script, a path below `workflow_scripts`, and of all modules that it can reach by
    imports, with the compiled sources and data tables that these name; not comments, layout and docstrings.
    choices: the rule's choices from tables of names, which imports do not reach: modules of the library, or
    `module:Name`, with or without the library's name in front.  command: words that a shell passes to the script.
    Raises InputError if the script or a choice does not exist.
    """
    modules = (choice.partition(":")[0].removeprefix(f"{LIBRARY}.") for choice in choices)
    names = (f"{LIBRARY}.{module}" for module in modules)
    return _fingerprint(ROOT, f"{SCRIPTS}/{script}", *names, command=command)


def code_of_module(*modules: str) -> str:
    """Fingerprint the code of modules of the library, usually `__name__`, and all that they import, as `code_of`."""
    return _fingerprint(ROOT, *(name for name in modules if name.startswith(f"{LIBRARY}.")))


@cache
def _fingerprint(root: Path, *starts: str, command: str = "") -> str:
    found = _project(root).fingerprint(*starts)
    return PREFIX + hashlib.sha256(f"{found} {command}".encode()).hexdigest()[:16]


# Once for each process: later edits do not change the code that it runs.
_project = cache(read_project)


def print_closures(*scripts: str) -> None:
    """Print the number of modules that each workflow script reaches, or the modules that given scripts reach."""
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
