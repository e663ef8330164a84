"""House style of all figures: colours that mean the same everywhere, fonts, axes and legends.

The palette is that of Okabe and Ito, which colour-blind readers can tell apart, without its black; what is not
pruned is grey, so that it shows on light and dark pages alike.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

from weebill.experiment.precisions import GRIDS, grid_of
from weebill.pruning.methods import pruning_method

PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d3b"]
PALETTE += ["#882255", "#6a5acd", "#a8a02c"]  # three of other hues, for figures of many methods
NEUTRAL = "#7b8794"
UNPRUNED = "not pruned"
SEQUENCE = "blues"  # scheme of heat maps
KEPT, REMOVED = "#dcdcdc", "#0072b2"  # parts that pruning kept and removed
# Kinds of numbers → colour and shape; further grids take the palette's other colours.
NUMBERS = {
    "float32": ("#7b8794", "circle"),
    "float16": ("#56b4e9", "diamond"),
    "bfloat16": ("#cc79a7", "cross"),
    "int8": ("#0072b2", "square"),
    "int8_rowwise": ("#009e73", "triangle-up"),
    "log4": ("#d55e00", "triangle-down"),
}
FONT = "Helvetica Neue, Arial, Liberation Sans, sans-serif"
TEXT, FAINT = "#26323f", "#5b6773"
CONFIG = {
    "background": "white",
    "font": FONT,
    "padding": 8,
    "view": {"stroke": None},
    "range": {"category": PALETTE},
    "title": {
        "anchor": "start",
        "color": TEXT,
        "fontSize": 15,
        "subtitleColor": FAINT,
        "subtitleFontSize": 12,
        "subtitlePadding": 5,
        "offset": 12,
    },
    "axis": {
        "domainColor": "#aab4be",
        "gridColor": "#aab4be",
        "gridOpacity": 0.35,
        "labelColor": FAINT,
        "labelFontSize": 11,
        "labelLimit": 0,
        "tickColor": "#aab4be",
        "titleColor": TEXT,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titleLimit": 0,
    },
    "legend": {
        "columns": 4,
        "labelColor": FAINT,
        "labelFontSize": 11,
        "labelLimit": 0,
        "orient": "bottom",
        "symbolBaseFillColor": NEUTRAL,
        "symbolBaseStrokeColor": NEUTRAL,
        "symbolStrokeWidth": 2,
        "titleColor": TEXT,
        "titleFontSize": 11,
        "titleLimit": 0,
    },
    "header": {"labelColor": TEXT, "labelFontSize": 12, "labelLimit": 0, "titleColor": TEXT},
    "text": {"color": TEXT},
}


def in_house_style(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart in the house style, with its title as alternative text."""
    spec = chart.to_dict()
    spec["config"] = CONFIG
    spec.setdefault("description", _words(spec.get("title", "")))
    return spec


def _words(title: str | Mapping[str, Any]) -> str:
    """Return a chart's title and subtitle as sentences."""
    if isinstance(title, str):
        return title
    lines = title.get("subtitle", [])
    return ". ".join([title["text"], *([lines] if isinstance(lines, str) else lines)])


FEW = 12  # whole numbers of which every one has a tick


def integers(shown: Iterable[float] = (), **options: Any) -> alt.Axis:
    """Return an axis of counts, such as heads or layers: no tick between two whole numbers.

    shown: the counts; if they lie close together, each whole number among them has a tick.
    """
    counts = [int(count) for count in shown]
    if counts and max(counts) - min(counts) < FEW:
        options["values"] = list(range(min(counts), max(counts) + 1))
    return alt.Axis(format=",d", tickMinStep=1, **options)


def ordered(names: Iterable[str]) -> alt.Scale:
    """Return the palette for names without a colour of their own, such as students, in their order."""
    domain = list(dict.fromkeys(names))
    return alt.Scale(domain=domain, range=_cycled(len(domain)))


def _cycled(count: int) -> list[str]:
    return [PALETTE[index % len(PALETTE)] for index in range(count)]


def method_of(config: Mapping[str, Any], recipe: str) -> str:
    """Return the label of a recipe's method; UNPRUNED for a model or search without a recipe."""
    settings = config.get("pruning", {}).get(recipe)
    return pruning_method(settings).label if settings else UNPRUNED


def method_colors(config: Mapping[str, Any], shown: Iterable[str]) -> alt.Scale:
    """Return the colours of pruning methods, the same in all figures of an experiment, for those that are shown."""
    every = dict.fromkeys(method_of(config, recipe) for recipe in config.get("pruning", {}))
    colors = {UNPRUNED: NEUTRAL, **dict(zip(every, _cycled(len(every)), strict=True))}
    domain = [name for name in colors if name in {*shown}]
    return alt.Scale(domain=domain, range=[colors[name] for name in domain])


def number_colors(shown: Iterable[str]) -> alt.Scale:
    """Return the fixed colours of kinds of numbers, for those that are shown."""
    return _numbers(shown, 0)


def number_shapes(shown: Iterable[str]) -> alt.Scale:
    """Return the fixed shapes of kinds of numbers, for those that are shown."""
    return _numbers(shown, 1)


def _numbers(shown: Iterable[str], part: int) -> alt.Scale:
    known = {**NUMBERS, **{grid: (NEUTRAL, "stroke") for grid in GRIDS if grid not in NUMBERS}}
    wanted = {grid_of(name) for name in shown}
    domain = [name for name in known if name in wanted]
    return alt.Scale(domain=domain, range=[known[name][part] for name in domain])
