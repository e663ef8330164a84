"""Check of a command's configuration files and folder, before Snakemake uses them.

Snakemake's own messages about a bad file name neither file nor line, and may have thousands of lines.
"""

import io
import sys
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from weebill.errors import InputError, explain
from weebill.yaml_files import check_yaml

SNAKEFILE = Path(__file__).parents[2] / "Snakefile"


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Settings of the logger plugin, which are empty; their creation starts the check.

    This is the only part of a plugin that Snakemake makes before it reads a configuration, and it does so only if the
    profile or the command chooses our plugin.
    """

    def __post_init__(self) -> None:
        arguments = _command()
        if arguments is None:
            return
        try:
            for path in arguments.configfile or []:
                check_yaml(path)
            path = Path(arguments.directory or "", ".snakemake")
            path.mkdir(parents=True, exist_ok=True)
        except (InputError, OSError) as error:
            sys.exit(f"weebill: {explain(error) or f'{path}: {error}'}")


def _command() -> Any:
    """Return the arguments of this process's command and profiles; None if it does not run our workflow."""
    if "snakemake" not in Path(sys.argv[0]).parts[-2:]:  # a program that uses Snakemake's interface
        return None
    from snakemake.api import resolve_snakefile
    from snakemake.cli import parse_args
    from snakemake_interface_executor_plugins.settings import ExecMode

    with redirect_stderr(io.StringIO()):  # Snakemake has already named its profile
        _, arguments = parse_args(None)
    snakefile = resolve_snakefile(arguments.snakefile, allow_missing=True)
    ours = isinstance(snakefile, Path) and snakefile.resolve() == SNAKEFILE
    return arguments if ours and arguments.mode == ExecMode.DEFAULT else None
