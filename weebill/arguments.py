"""Parser of command lines, which names the nearest word for a wrong one, and types of arguments."""

import argparse
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from weebill.errors import abridged, nearest

LARGEST = 2**31 - 1  # number where nothing else bounds it


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
    """Return a parser of numbers from `least`, or above it, to `most`; it raises ArgumentTypeError for any other."""

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
threads = whole(1, 4096)  # of one process; more than any machine has
beam = whole(1, 4096)  # hypotheses, or samples, of a sentence
random_seed = whole(0, 2**32 - 1)
