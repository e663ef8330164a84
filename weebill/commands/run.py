"""Run an experiment: read its file, and start Snakemake.

Snakemake runs this project's workflow with the file, on all cores unless the options give a number.  You can name
several files; later ones override keys of earlier ones.
"""

import argparse
import os
import re
import sys
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

from weebill.errors import InputError

FILES = (".yaml", ".yml", ".json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `weebill run`."""
    parser.add_argument("config", metavar="CONFIG", help="config/NAME.yaml")
    more = "further files, targets, and options of Snakemake, such as --cores 4 or --dry-run"
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="…", help=more)


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by Snakemake.  Raises InputError if a file is not YAML."""
    command = snakemake_command([arguments.config, *arguments.options])
    if find_spec("snakemake") is None:
        raise ModuleNotFoundError("no Snakemake", name="snakemake")
    os.execv(sys.executable, [sys.executable, "-m", "snakemake", *command])


def snakemake_command(words: list[str]) -> list[str]:
    """Return Snakemake's arguments for the words after `weebill run`, if Snakemake can start."""
    from weebill.yaml_files import check_yaml

    configs = [words[0], *takewhile(lambda word: word.endswith(FILES), words[1:])]
    options = words[len(configs) :]
    for config in configs:
        check_yaml(config)  # Snakemake's own messages name neither file nor line
    if any(word.startswith("--configfile") for word in options):  # Snakemake would read only these
        raise InputError(
            f"run: --configfile: name all files behind one another: weebill run {' '.join(configs)} …"
        )
    given = options[options.index("--config") + 1 :] if "--config" in options else []
    for word in takewhile(lambda word: not word.startswith("-"), given):
        if not re.match(r"[A-Za-z_]\w+=", word):  # Snakemake ends in a traceback
            raise InputError(
                f"run: --config {word}: expected KEY=VALUE; write keys below others into a second file: weebill run "
                f"{' '.join(configs)} second.yaml"
            )
    chosen = any(
        word.startswith(("--cores", "--jobs", "-c", "-j", "--workflow-profile")) for word in options
    )
    cores = [] if chosen else ["--cores", "all"]
    return ["--configfile", *configs, "--snakefile", str(snakefile()), *cores, *options]


def snakefile() -> Path:
    """Return the workflow beside the library, or in this folder if the library is installed without it."""
    for folder in (Path(__file__).parents[2], Path.cwd()):
        if (folder / "Snakefile").is_file():
            return folder / "Snakefile"
    raise InputError(
        "no Snakefile in this folder; run in a clone of Weebill, whose workflow is no part of the package"
    )
