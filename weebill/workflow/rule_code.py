"""Parameter `code` of rules, by which jobs run again when code changes, and checks of paths that rules cannot use."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

from weebill.errors import InputError
from weebill.workflow.code_version import code_of
from weebill.workflow.import_closure import SCRIPTS

IN_SHELL = re.compile(rf"{SCRIPTS}/([\w/]+\.py)\S*(.*)", re.DOTALL)  # the path may be quoted
# Blanks, and characters that bash interprets in the middle of a path.
READ_BY_SHELL = re.compile(r"[\s|&;<>()$`\\\"'*?\[\]{}]")


def set_code(rules: Iterable[Any], repository: Path) -> None:
    """Give each rule that runs a script of the repository the fingerprint of the code that it uses.

    A rule's parameter `uses` names the modules that it chose from tables of names: a list, or a function of the
    wildcards.  A rule that has a parameter `code` keeps it.
    """
    for rule in rules:
        script, command = script_of(rule, repository)
        if script is not None and rule.params.get("code") is None:
            uses, code = rule.params.get("uses", []), partial(code_of, script, command=command)
            rule.set_params(code=_chosen(code, uses) if callable(uses) else code(*uses))


def script_of(rule: Any, repository: Path) -> tuple[str | None, str]:
    """Find the script of the repository that a rule runs, if it runs one, and the words that a shell passes to it."""
    if rule.script:
        path = Path(rule.basedir.join(rule.script).get_path_or_uri(secret_free=True)).resolve()
        folder = (repository / SCRIPTS).resolve()
        return (str(path.relative_to(folder)) if path.is_relative_to(folder) else None), ""
    shell = rule.shellcmd or ""
    found = IN_SHELL.search(shell) if library_path(repository) in shell else None
    return found.groups() if found else (None, "")


def library_path(repository: Path) -> str:
    """Set a shell command's PYTHONPATH so that any Python finds the library."""
    return f"PYTHONPATH={quote(str(repository))}"


def _chosen(code: Callable[..., str], uses: Callable[[Any], list[str]]) -> Callable[[Any], str]:
    return lambda wildcards: code(*uses(wildcards))


def check_python(path: str) -> None:
    """Raise InputError if the shell cannot start the Python at `path`, which Snakemake writes into it unquoted."""
    found = sorted(set(READ_BY_SHELL.findall(path)))
    if found:
        shown = " and ".join("a blank" if one == " " else repr(one) for one in found)
        raise InputError(
            f"{path}: Snakemake cannot start a Python whose path has {shown} in it; make the environment at another "
            "place, `make setup VENV=/path/to/environment`, and give the same VENV to `make demo` and `make run` "
            "or call snakemake from there; or move this folder"
        )


def check_folder(path: str) -> None:
    """Raise InputError if a folder's path has braces, which mean variables, or colons, at which PYTHONPATH splits."""
    found = sorted(set(path) & set("{}:"))
    if found:
        raise InputError(
            f"{path}: the workflow cannot run in a folder whose path has {' and '.join(map(repr, found))} in it; "
            "rename or move this folder"
        )
