"""Parser of command lines, which names the nearest word for a wrong one, and types of arguments."""

import argparse
from collections.abc import Sequence
from typing import Any

from weebill.errors import nearest


class Parser(argparse.ArgumentParser):
    """Parser whose messages about unknown commands, options and choices name the nearest valid word."""

    def parse_known_args(
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse arguments, all of which must be known."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            options = self._option_string_actions if unknown[0].startswith("-") else ()
            near = nearest(unknown[0].partition("=")[0], options)
            self.error(f"unknown argument '{unknown[0]}'{near}; --help lists all")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            names = [str(one) for one in action.choices]
            message = f"found '{value}', expected one of {', '.join(names)}{nearest(value, names)}"
            raise argparse.ArgumentError(action, message)


def positive(text: str) -> int:
    """Parse a whole number of at least 1; raise ArgumentTypeError for any other text."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"found '{text}', expected a whole number of at least 1")
    return number
