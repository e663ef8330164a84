"""Command line of Weebill: `python -m weebill COMMAND`, installed as `weebill`."""

import argparse
import importlib
import io
import os
import signal
import sys

from weebill import __version__
from weebill.arguments import Parser
from weebill.errors import InputError, explain

# Each command is a module of weebill.commands with add_arguments(parser) and run(arguments) -> int.
# Its help is here, so that only the chosen command is imported: most commands load large packages.
COMMANDS = {
    "init": "write a first configuration for your own text",
    "check": "check an experiment's configuration, and estimate its cost",
    "run": "run an experiment: check it, and start Snakemake",
    "rehearse": "run a miniature of an experiment through all of its rules",
    "fetch": "fetch the files of an experiment, or list public texts",
    "describe": "print shapes, parameters and sizes of zoo models",
    "export": "write a table's rows as text files",
    "translate": "translate lines of text",
    "serve": "serve translations over HTTP",
    "compare": "compare the runtime's translations with PyTorch's",
    "score": "score translations by a COMET model",
    "metric": "write, prune or distil a COMET model",
    "mbr": "choose among many translations by minimum Bayes risk",
    "convert": "write a model for CTranslate2, Marian, Firefox or ONNX",
    "import-marian": "make a model folder from a published Marian student",
    "lineage": "print what a model or table was made from",
    "publish": "render published pages again, or list those that are stale",
    "benchmark": "measure a speed claim against an opponent",
}
# Extra of pyproject.toml with all packages of a command, if it is not `all`.
EXTRAS = {
    "run": "workflow",
    "rehearse": "all",
    "fetch": "workflow",
    "export": "workflow",
    "translate": "train",
    "serve": "train",
    "compare": "train",
    "score": "metric",
    "metric": "metric",
    "mbr": "metric",
    "convert": "train",
    "import-marian": "train",
    "lineage": "workflow",
    "publish": "workflow",
}
EXAMPLES = """examples:
  weebill init config/mine.yaml --languages en de --corpus train.en.gz train.de.gz
  weebill check config/multi30k.yaml
  weebill rehearse config/multi30k.yaml
  weebill run config/multi30k.yaml --cores 8
  weebill fetch config/multi30k.yaml
  weebill translate results/demo/models/demo.tiny/unpruned/int8 < text.en
  weebill lineage results/demo/tables/summary.csv
  weebill translate --help
"""


def main(argv: list[str] | None = None) -> int:
    """Run one command; return exit code 1 after one line on stderr for bad input, and 130 for Ctrl-C."""
    argv = (sys.argv[1:] if argv is None else argv) or ["--help"]
    command = _command(argv)
    if sys.stderr is None:  # closed by the caller
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        prepare_output()
        if "_ARGCOMPLETE" in os.environ:
            complete()
        arguments = parser_of(command).parse_args(argv)
        code = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as `head`, has ended
        # Python flushes again when it ends, which needs an open file.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE  # as the shell's code for SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:
        line = _missing_package(error, command) or explain(error, "standard output")
        if line is None:
            raise
        print(f"weebill: {line}", file=sys.stderr)
        return 1


def prepare_output() -> None:
    """Make standard output UTF-8 in any locale.  Raises InputError if the caller has closed it.

    Bytes of file names that are not UTF-8 are escaped, as on standard error; no other text contains such bytes.
    """
    if sys.stdout is None:
        raise InputError("standard output: closed, expected an open file, pipe or terminal")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def complete() -> None:
    """Print the possible completions of the command line in the shell's environment variables; end the process."""
    import argcomplete

    words = os.environ["COMP_LINE"].split()[1:]
    argcomplete.autocomplete(parser_of(_command(words)))


def _command(argv: list[str]) -> str | None:
    return next((word for word in argv if not word.startswith("-")), None)


def parser_of(command: str | None) -> Parser:
    """Return the parser for the arguments of one command; only its module is imported."""
    formatter = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog="weebill", description=__doc__, epilog=EXAMPLES, formatter_class=formatter)
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=text)
        if name == command:
            module = importlib.import_module(f"weebill.commands.{name.replace('-', '_')}")
            subparser.description = module.__doc__
            module.add_arguments(subparser)
            subparser.set_defaults(run=module.run)
    return parser


def _missing_package(error: Exception, command: str | None) -> str | None:
    """Return the message for a third-party package that is not installed, None for any other error."""
    if not isinstance(error, ModuleNotFoundError):
        return None
    module = (error.name or "").partition(".")[0]
    if module in ("", "weebill"):
        return None
    extra = EXTRAS.get(command, "all")
    return (
        f"{command}: the Python module '{module}' is not installed here; in Weebill's folder, "
        f"`pip install ./runtime '.[{extra}]'` installs what this command needs, and `make setup` everything"
    )


if __name__ == "__main__":
    sys.exit(main())
