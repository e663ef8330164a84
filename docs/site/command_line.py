"""Reference of the command line: the help of each command, from the parsers that read it."""

import argparse
import os

from weebill.__main__ import COMMANDS, parser_of
from weebill.benchmarks import NAMES
from weebill.commands import benchmark

WIDTH = "88"  # columns of the help texts


def page() -> str:
    """Return a section for each command with its help, with those of its actions and benchmarks."""
    os.environ["COLUMNS"] = WIDTH
    sections = []
    for name in COMMANDS:
        sections += _sections(name, actions(parser_of(name))[name])
    for name in (*NAMES, benchmark.GPU, benchmark.ALL):
        sections += _sections(f"benchmark {name}", benchmark.parser_of(name), "###")
    return "\n".join(sections)


def actions(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of a command's actions, such as those of `weebill metric`."""
    groups = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    return {name: below for group in groups for name, below in group.choices.items()}


def _sections(name: str, parser: argparse.ArgumentParser, level: str = "##") -> list[str]:
    """Return the section of a command, and those of the commands below it."""
    found = [f"{level} weebill {name}\n\n```text\n{parser.format_help().rstrip()}\n```\n"]
    for action, below in actions(parser).items():
        found += _sections(f"{name} {action}", below, f"{level}#")
    return found
