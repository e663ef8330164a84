"""Check of the configuration files that a command names, before Snakemake reads them.

Snakemake's own messages about a bad file name neither the file nor the line, and may have thousands of lines.
"""

import io
import sys
from collections.abc import Iterable
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path

from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from weebill.errors import InputError, explain
from weebill.yaml_files import check_yaml

SNAKEFILE = Path(__file__).parents[2] / "Snakefile"


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Settings of the logger plugin: there are none.

    Of all that belongs to a plugin, Snakemake makes this alone before it reads a configuration, and only if the
    profile or the command chooses our plugin.
    """

    def __post_init__(self) -> None:
        for path in named_files():
            try:
                check_yaml(path)
            except (InputError, OSError) as error:
                sys.exit(f"weebill: {explain(error) or f'{path}: {error}'}")


def named_files() -> Iterable[str | Path]:
    """Return the configuration files of this process's command and its profiles, if it runs our workflow."""
    if "snakemake" not in Path(sys.argv[0]).parts[-2:]:  # a program that uses Snakemake's interface
        return []
    from snakemake.api import resolve_snakefile
    from snakemake.cli import parse_args
    from snakemake_interface_executor_plugins.settings import ExecMode

    with redirect_stderr(io.StringIO()):  # Snakemake has told already which profile it uses
        _, arguments = parse_args(None)
    snakefile = resolve_snakefile(arguments.snakefile, allow_missing=True)
    ours = isinstance(snakefile, Path) and snakefile.resolve() == SNAKEFILE
    return arguments.configfile or [] if ours and arguments.mode == ExecMode.DEFAULT else []
