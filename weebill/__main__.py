"""The command line: `python -m weebill COMMAND`, installed as `weebill`."""

import argparse
import importlib
import os
import signal
import sys

from weebill import __version__
from weebill.job import explain

# Each command is a module of weebill.commands with HELP, add_arguments(parser) and run(arguments) -> int.
COMMANDS = (
    "describe",
    "export",
    "translate",
    "compare",
    "score",
    "mbr",
    "convert",
    "import-marian",
    "lineage",
    "benchmark",
)


def main(argv: list[str] | None = None) -> int:
    """Run one command; bad input ends in one line on stderr and exit code 1, Ctrl-C in exit code 130."""
    parser = argparse.ArgumentParser(prog="weebill", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        module = importlib.import_module(f"weebill.commands.{name.replace('-', '_')}")
        subparser = subparsers.add_parser(name, help=module.HELP, description=module.__doc__)
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run)
    arguments = parser.parse_args(argv)
    try:
        code = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # whoever reads, such as `head`, has enough
        # Python flushes once more at its end; that must find an open pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE  # as the shell says of a program that the pipe ended
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:
        line = explain(error)
        if line is None:
            raise
        print(f"weebill: {line}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
