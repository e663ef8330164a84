"""Checks of paths that Snakemake passes to the shell unquoted, or interprets.

The installer runs this module with a Python without packages.
"""

import re

from weebill.errors import InputError

# Blanks, and characters that bash interprets in the middle of a path.
READ_BY_SHELL = re.compile(r"[\s|&;<>()$`\\\"'*?\[\]{}]")


def check_python(path: str) -> None:
    """Raise InputError if the shell cannot start the Python at `path`, which Snakemake writes unquoted."""
    found = sorted(set(READ_BY_SHELL.findall(path)))
    if found:
        shown = " and ".join("a blank" if one == " " else repr(one) for one in found)
        raise InputError(
            f"{path}: Snakemake cannot start a Python whose path has {shown} in it; make the environment at another "
            "place, `make setup VENV=/path/to/environment`, and give the same VENV to `make demo` and `make run` "
            "or call snakemake from there; or move this folder"
        )


def check_folder(path: str) -> None:
    """Raise InputError if a folder's path has braces, which enclose variables, or colons, which split PYTHONPATH."""
    found = sorted(set(path) & set("{}:"))
    if found:
        raise InputError(
            f"{path}: the workflow cannot run in a folder whose path has {' and '.join(map(repr, found))} in it; "
            "rename or move this folder"
        )
