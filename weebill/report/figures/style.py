"""House style of all figures: palette, fonts, axes and legends.

The palette is that of Okabe and Ito, which colour-blind readers can tell apart, without black.  Unpruned models are
grey, which is visible on light and dark pages.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d3b"]
PALETTE += ["#882255", "#6a5acd", "#a8a02c"]  # three further hues, for figures with many methods
NEUTRAL = "#7b8794"
SEQUENCE = "blues"  # scheme of heat maps
NOTHING = "none in this experiment"  # text of a picture without data
KEPT, REMOVED = "#dcdcdc", "#0072b2"  # parts that pruning kept and removed
FONT = "Helvetica Neue, Arial, Liberation Sans, sans-serif"
TEXT, FAINT = "#26323f", "#5b6773"
CONFIG = {
    "background": "white",
    "font": FONT,
    "padding": 8,
    "view": {"stroke": None},
    "range": {"category": PALETTE},
    "mark": {"color": PALETTE[0]},
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
        "labelSeparation": 6,
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
    with alt.data_transformers.enable("default", max_rows=None):  # Altair refuses more than 5,000
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


FEW = 12  # up to this range, every whole number has a tick


def integers(shown: Iterable[float] = (), **options: Any) -> alt.Axis:
    """Return an axis of counts, such as heads or layers, with ticks only at whole numbers.

    shown: the counts; if their range is small, each whole number in it has a tick.
    """
    counts = [int(count) for count in shown]
    if counts and max(counts) - min(counts) < FEW:
        options["values"] = list(range(min(counts), max(counts) + 1))
    return alt.Axis(format=",d", tickMinStep=1, **options)


def ordered(names: Iterable[str]) -> alt.Scale:
    """Return colours of the palette, in order, for names without a fixed colour, such as students."""
    domain = list(dict.fromkeys(names))
    return alt.Scale(domain=domain, range=cycled(len(domain)))


def cycled(count: int) -> list[str]:
    """Return `count` colours of the palette, from the start again after its end."""
    return [PALETTE[index % len(PALETTE)] for index in range(count)]
