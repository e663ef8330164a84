"""Copies of the library with other code, which must not continue the work of this code."""

import shutil
from pathlib import Path

from weebill.workflow.code_version import ROOT


def changed_library(folder: Path, module: str) -> Path:
    """Copy the library to a folder, append a line of code to one of its modules, and return the folder."""
    for package in ("weebill", "runtime/weebill_runtime"):
        shutil.copytree(ROOT / package, folder / package)
    with (folder / "weebill" / module).open("a") as file:
        file.write("SURE = True")
    return folder
