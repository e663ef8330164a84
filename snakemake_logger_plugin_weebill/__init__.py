"""Logger plugin `weebill` of Snakemake, which finds plugins by the name of a top-level package."""

from weebill.workflow.configuration_files import LogHandlerSettings
from weebill.workflow.terminal.handler import LogHandler

__all__ = ["LogHandler", "LogHandlerSettings"]
