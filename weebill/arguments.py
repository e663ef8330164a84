"""Parser of command lines, which suggests the nearest word for a wrong one, and types of arguments."""

import argparse
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from weebill.errors import abridged, nearest

LARGEST = 2**31 - 1  # largest number if there is no other bound


class _OneFile(argparse.Action):
    """Option for one file; a second use is an error, because it would replace the first file."""

    def __call__(
        self, parser: "Parser", namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        if option_string and self.dest in parser.given:
            raise argparse.ArgumentError(self, "takes one file; give it once")
        parser.given.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """Parser whose messages about unknown commands, options and choices name the nearest valid word.

    No given file is ignored: an option for several files collects those of all its uses, and an option for one file
    can be used only once.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        self.given: set[str] = set()  # options of one file
        super().__init__(*args, **options)

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Add an argument; the class's docstring explains arguments for files, which have the type Path."""
        if options.get("type") is Path and "action" not in options:
            options["action"] = "extend" if options.get("nargs") == "+" else _OneFile
        return super().add_argument(*names, **options)

    def parse_known_args(
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse arguments; all of them must be known."""
        self.given.clear()
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            places = [action for action in self._actions if not action.option_strings]
            if any(action.nargs == argparse.REMAINDER for action in places):
                self.error(f"found '{unknown[0]}' before {places[0].metavar}; give it after that")
            options = self._option_string_actions if unknown[0].startswith("-") else ()
            near = nearest(unknown[0].partition("=")[0], options)
            self.error(f"unknown argument '{unknown[0]}'{near}; --help lists all")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            names = [str(one) for one in action.choices]
            message = f"found '{value}', expected one of {', '.join(names)}{nearest(value, names)}"
            raise argparse.ArgumentError(action, message)


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return a parser of whole numbers from `least` to `most`; it raises ArgumentTypeError for any other text."""

    def parse(text: str) -> int:
        number = int(text) if re.fullmatch(r"[+-]?[0-9]{1,19}", text) else None
        if number is None or not least <= number <= most:
            small = most >= LARGEST and (number is None or number < least)
            expected = f"of at least {least:,}" if small else f"from {least:,} to {most:,}"
            expected = f"a whole number {expected}"
            raise argparse.ArgumentTypeError(f"found '{abridged(text, 40)}', expected {expected}")
        return number

    return parse


def real(least: float, most: float, above: bool = False) -> Callable[[str], float]:
    """Return a parser of numbers from `least` (or `above` it) to `most`; it raises ArgumentTypeError for others."""

    def parse(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not least <= number <= most or (above and number == least):
            expected = f"a number {'above' if above else 'from'} {least:g} to {most:g}"
            raise argparse.ArgumentTypeError(f"found '{abridged(text, 40)}', expected {expected}")
        return number

    return parse


positive = whole(1, LARGEST)
threads = whole(1, 4096)  # threads of a process; more than any machine has
beam = whole(1, 4096)  # hypotheses, or samples, of a sentence
random_seed = whole(0, 2**32 - 1)


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add the option of commands that translate by several threads."""
    told = (
        "threads that translate in parallel, or divide sentences into pieces for a GPU; default 1"
    )
    parser.add_argument("--threads", type=threads, default=1, metavar="N", help=told)
