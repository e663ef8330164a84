"""Speed claims of the project, in a module with the name of each benchmark.

Each module has `run(rounds, …) -> Iterable[Row | Table]`; further parameters are its options (`Option`).
It may have `OPPONENTS`, required packages whose versions are reported with the rows, and `SMALLEST`, the options of
the smallest meaningful run (`weebill benchmark all`).
"""

import argparse
import inspect
import statistics
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from weebill.arguments import positive

NAMES = (
    "classes",
    "cleaning",
    "deployment",
    "families",
    "generation",
    "languages",
    "mbr",
    "metric",
    "runtime",
    "scoring",
    "search",
    "training",
)
SMALLER_IS_BETTER = ("ms", "MiB")  # units


@dataclass(frozen=True)
class Row:
    """Claim: medians over rounds of our figure and the opponent's, in `unit`, and their ratio ours / other."""

    claim: str
    ours: float
    other: float
    unit: str
    rounds: int
    lowest: float  # lowest and highest ratio of a single round
    highest: float
    paper: float | None  # the same ratio from a paper's table
    ratio: float
    key: str  # finds the claim in another run: the claim itself, unless it contains results

    @classmethod
    def of_rounds(
        cls,
        claim: str,
        ours: Sequence[float],
        other: Sequence[float],
        unit: str,
        paper: float | None = None,
        key: str = "",
    ) -> "Row":
        """Make a row from the figures of each round, in the same order on both sides."""
        ratios = [one / two for one, two in zip(ours, other, strict=True)]
        one, two = statistics.median(ours), statistics.median(other)
        interval = min(ratios), max(ratios)
        return cls(claim, one, two, unit, len(ratios), *interval, paper, one / two, key or claim)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values, ready for JSON, without its key."""
        return {name: value for name, value in asdict(self).items() if name != "key"}

    def __str__(self) -> str:
        printed = "" if self.paper is None else f"; the paper's {self.paper:.2f}"
        return (
            f"{self.claim}: {self.ours:,.4g} against {self.other:,.4g} {self.unit}, ratio {self.ratio:.2f} "
            f"({self.lowest:.2f} to {self.highest:.2f} in {self.rounds} rounds{printed})"
        )


@dataclass(frozen=True)
class Option:
    """Help, placeholder and choices of an option; the annotated parameter has its name, type and default."""

    help: str
    metavar: str | None = None
    choices: Collection[str] | None = None


def add_options(parser: argparse.ArgumentParser, run: Callable[..., Any]) -> None:
    """Add an option for each parameter of `run` that is annotated with an Option; numbers are whole, at least 1."""
    parameters = inspect.signature(run).parameters
    read = {int: positive, Path: Path, str: str}
    for name, hint in get_type_hints(run, include_extras=True).items():
        if get_origin(hint) is Annotated:
            kind, option = get_args(hint)  # a type of `read`, any of them or None, or a sequence
            default = parameters[name].default
            shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
            parser.add_argument(
                f"--{name}",
                type=next(read[one] for one in (kind, *get_args(kind)) if one in read),
                nargs="+" if get_origin(kind) is Sequence else None,
                default=default,
                choices=option.choices,
                metavar=option.metavar,
                help=option.help + ("" if default is None else f"; default {shown or 'none'}"),
            )
