"""Options of a benchmark on the command line, read from the parameters of its `run`."""

import argparse
import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from weebill.arguments import positive


@dataclass(frozen=True)
class Option:
    """Help, placeholder and choices of one option; the parameter that it annotates has its name, type and default."""

    help: str
    metavar: str | None = None
    choices: Collection[str] | None = None


def add_options(parser: argparse.ArgumentParser, run: Callable[..., Any]) -> None:
    """Add an option for each parameter of `run` that is annotated with an Option.

    Numbers are whole and at least 1; a sequence takes one value or more.
    """
    parameters = inspect.signature(run).parameters
    for name, hint in get_type_hints(run, include_extras=True).items():
        if get_origin(hint) is Annotated:
            kind, option = get_args(hint)
            default = parameters[name].default
            shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
            parser.add_argument(
                f"--{name}",
                type=_type(kind),
                nargs="+" if get_origin(kind) is Sequence else None,
                default=default,
                choices=option.choices,
                metavar=option.metavar,
                help=option.help + ("" if default is None else f"; default {shown}"),
            )


def _type(kind: Any) -> Callable[[str], Any]:
    """Return the function that reads one value of `int`, `Path`, `str`, any of them or None, or a sequence."""
    names = {int: positive, Path: Path, str: str}
    return next(names[one] for one in (kind, *get_args(kind)) if one in names)
