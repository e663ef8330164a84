"""Figures of benchmarks compared with published ones: how each ratio to the opponent has changed."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from weebill.benchmarks import SMALLER_IS_BETTER
from weebill.benchmarks.survey import Survey
from weebill.errors import InputError
from weebill.files import read_json

LOSS = 0.05  # share of a ratio; a greater loss is reported


def read_survey(path: str | Path) -> Survey:
    """Read a file of `weebill benchmark all --json`.  Raises InputError if the file holds anything else."""
    try:
        found = Survey(**read_json(path))
        figures = [(_name(row), row["ours"], *_interval(row)) for row in found.rows]
        if not all(isinstance(one, int | float) for _, *numbers in figures for one in numbers):
            raise ValueError("a figure is no number")
        found.signature["hardware"]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path}: holds no figures of benchmarks; name a file of `weebill benchmark all --json FILE`"
        ) from error
    return found


def changes(found: Survey, published: Survey) -> Iterator[str]:
    """Yield a line for each figure: its ratio now, the published one, and the first divided by the second.

    All have intervals, from the smallest to the largest value that single rounds allow.  If the hardware is that of
    the published figures, the line also gives the change of our own speed.
    """
    before = {_name(row): row for row in published.rows}
    same = found.signature["hardware"] == published.signature["hardware"]
    if not same:
        yield (
            f"published on another machine ({published.signature['hardware']}): its ratios can be compared, "
            "its speeds cannot"
        )
    for row in found.rows:
        old = before.pop(_name(row), None)
        if old is None:
            yield f"{_name(row)}: ratio {_shown(row)}, not published yet"
        else:
            yield _change(row, old, same)
    yield from (
        f"{name}: published ratio {_shown(old)}, not measured now" for name, old in before.items()
    )


def _change(row: Mapping[str, Any], old: Mapping[str, Any], same_hardware: bool) -> str:
    (ratio, lowest, highest), (old_ratio, old_lowest, old_highest) = _interval(row), _interval(old)
    change = ratio / old_ratio
    gain = 1 / change if row["unit"] in SMALLER_IS_BETTER else change
    return (
        f"{_name(row)}: ratio {_shown(row)}, published {_shown(old)}; changed by {change:.2f} "
        f"({lowest / old_highest:.2f} to {highest / old_lowest:.2f})"
        + (f", ours alone by {row['ours'] / old['ours']:.2f}" if same_hardware else "")
        + (f"; a loss over {LOSS:.0%}" if gain < 1 - LOSS else "")
    )


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['benchmark']}, {row['key']}, {row['unit']}"


def _interval(row: Mapping[str, Any]) -> tuple[float, float, float]:
    return row["ratio"], row["lowest"], row["highest"]


def _shown(row: Mapping[str, Any]) -> str:
    return "{:.2f} ({:.2f} to {:.2f})".format(*_interval(row))
