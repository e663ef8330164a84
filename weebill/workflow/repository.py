"""Clones of the project: the commit of a clone, and the clone whose library runs rules that Snakemake fetched."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weebill.errors import InputError
from weebill.workflow.code_version import ROOT
from weebill.workflow.import_closure import SCRIPTS

RESULTS = "docs/results"


def repository_of(rules: Any, opened: Callable[[Any], Any], root: Path = ROOT) -> Path:
    """Return the clone with the scripts and environments of the rules.

    rules: folder of the rules, as an object of Snakemake.  Rules from a git repository (`snakefile: github(…)`, which
    `snakedeploy` writes) run with the clone of the library that Snakemake imports.
    opened: Snakemake's function that opens a source file.
    Raises InputError if the library is not in a clone, or if the clone has different rules.
    """
    place = rules.get_path_or_uri(secret_free=True)
    if Path(place).is_dir():
        return Path(place).parent
    if not (root / SCRIPTS).is_dir():
        raise InputError(
            f"{root}: Weebill is installed here without its workflow; clone its repository, run `make setup` there, "
            "and use the snakemake of the clone's .venv/bin"
        )
    for path in sorted((root / "rules").rglob("*.smk")):
        source = rules.join(str(path.relative_to(root / "rules")))
        try:
            with opened(source) as file:
                found = file.read()
        except Exception as error:  # from git or the network
            raise InputError(f"{source}: not to be read ({error}); check the tag") from error
        if found.rstrip() != path.read_text("utf-8").rstrip():
            raise InputError(
                f"{source}: differs from {path}; check out the same version in {root}, or name its Snakefile"
            )
    return root


def show_library(repository: Path, deployment: Any) -> None:
    """Let scripts in conda environments, which lack the library, find it by PYTHONPATH.

    deployment: Snakemake's settings; by default they hide the variable from such environments.
    """
    os.environ["PYTHONPATH"] = str(repository)
    deployment.conda_not_block_search_path_envvars = True


def commit(root: Path = ROOT) -> str | None:
    """Return the commit of this checkout, with "-dirty" if files differ from it; None outside a checkout.

    Changes of published results do not count, because a run makes them again.
    """
    if not (root / ".git").exists() or not shutil.which("git"):
        return None

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
        return done.stdout.strip()

    found = git("rev-parse", "--verify", "HEAD")
    changed = git(
        "status", "--porcelain", "--untracked-files=no", "--", ".", f":(exclude){RESULTS}"
    )
    return (f"{found}-dirty" if changed else found) or None
