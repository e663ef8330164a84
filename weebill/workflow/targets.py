"""Targets of a run that no rule makes; we explain them before Snakemake would."""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import Any

from weebill.errors import nearest


def is_dry_run(arguments: Sequence[str]) -> bool:
    """Return True if Snakemake's arguments ask for a dry run."""
    return any(
        word in ("--dry-run", "--dryrun") or re.fullmatch("-[a-zA-Z]*n[a-zA-Z]*", word)
        for word in arguments
    )


def asked_targets(arguments: Sequence[str]) -> list[str]:
    """Return the targets among Snakemake's arguments, which Snakemake hides while it reads a Snakefile."""
    from snakemake.cli import get_argument_parser
    from snakemake.exceptions import CliException

    with suppress(SystemExit, CliException), redirect_stderr(None):  # arguments of another program
        return sorted(get_argument_parser().parse_args(arguments).targets)
    return []


def unknown_targets(
    targets: Iterable[str],
    rules: Collection[Any],
    known: Iterable[str],
    experiment: str,
    origin: str,
) -> list[str]:
    """Return a line, with its remedy, for each target that is neither a rule's name nor the output of a rule.

    rules: Snakemake's rules.  known: further names and files that users may mean.  origin: the configuration's file.
    """
    names = {rule.name for rule in rules} | set(known)
    files = {str(file) for rule in rules for file in rule.products() if not file.contains_wildcard}
    lines = []
    for target in targets:
        path = target if Path(target).is_absolute() else os.path.relpath(target)
        if target in names or any(rule.is_producer(path) for rule in rules):
            continue
        top, _, rest = path.removeprefix("results/").partition("/")
        if path.startswith("results/") and rest and top != experiment:
            lines.append(
                f"{target}: {origin} makes results/{experiment}; name the configuration of {top} by --configfile"
            )
        else:
            lines.append(f"{target}: no rule makes this{nearest(path, sorted(names | files))}")
    return lines
