"""Colours and shapes with the same meaning in all figures: for pruning methods and kinds of numbers."""

from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import Any

import altair as alt

from weebill.experiment.precisions import GRIDS, grid_of
from weebill.pruning.methods import pruning_method
from weebill.report.figures.style import NEUTRAL, PALETTE, cycled

UNPRUNED = "not pruned"
# Kinds of numbers → colour and shape; further grids get the palette's other colours.
NUMBERS = {
    "float32": ("#7b8794", "circle"),
    "float16": ("#56b4e9", "diamond"),
    "bfloat16": ("#cc79a7", "cross"),
    "int8": ("#0072b2", "square"),
    "int8_rowwise": ("#009e73", "triangle-up"),
    "log4": ("#d55e00", "triangle-down"),
}
SHAPES = ("arrow", "wedge", "triangle-left", "triangle-right")  # of further grids


def method_of(config: Mapping[str, Any], recipe: str) -> str:
    """Return the label of a recipe's method; UNPRUNED for a model or search without a recipe."""
    settings = config.get("pruning", {}).get(recipe)
    return pruning_method(settings).label if settings else UNPRUNED


def method_colors(config: Mapping[str, Any], shown: Iterable[str]) -> alt.Scale:
    """Return the colours of the shown pruning methods; they are the same in all figures of an experiment."""
    every = dict.fromkeys(method_of(config, recipe) for recipe in config.get("pruning", {}))
    colors = {UNPRUNED: NEUTRAL, **dict(zip(every, cycled(len(every)), strict=True))}
    domain = [name for name in colors if name in {*shown}]
    return alt.Scale(domain=domain, range=[colors[name] for name in domain])


def number_colors(shown: Iterable[str]) -> alt.Scale:
    """Return the fixed colours of the shown kinds of numbers."""
    return _numbers(shown, 0)


def number_shapes(shown: Iterable[str]) -> alt.Scale:
    """Return the fixed shapes of the shown kinds of numbers."""
    return _numbers(shown, 1)


def _numbers(shown: Iterable[str], part: int) -> alt.Scale:
    used = {color for color, _ in NUMBERS.values()}
    further = zip(cycle(color for color in PALETTE if color not in used), cycle(SHAPES))
    known = {
        **NUMBERS,
        **dict(zip([one for one in GRIDS if one not in NUMBERS], further, strict=False)),
    }
    wanted = {grid_of(name) for name in shown}
    domain = [name for name in known if name in wanted]
    return alt.Scale(domain=domain, range=[known[name][part] for name in domain])
