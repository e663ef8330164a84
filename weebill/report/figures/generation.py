"""Figures 3 and 4 of TEXTGEN from our records of movement pruning: masked shares, and removed parts."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import altair as alt
import pandas as pd

from weebill.report.figures import style
from weebill.report.lookups import generation as lookup
from weebill.report.results import Results


def threshold_schedule(results: Results) -> alt.TopLevelMixin:
    """Draw figure 3: the masked shares of heads and neurons by update."""
    rows = [
        (f"{variant}: {kind}", row["update"], 100 * row[kind])
        for variant, record in lookup.prunings(results).items()
        for row in record["schedule"]
        for kind in ("heads", "neurons")
        if kind in row
    ]
    frame = pd.DataFrame(rows, columns=["series", "update", "share"])
    chart = alt.Chart(frame, title="Shares masked in movement pruning")
    return (
        chart.mark_line(interpolate="step-after")
        .encode(
            x=alt.X("update:Q", title="update of the training", axis=style.integers()),
            y=alt.Y("share:Q", title="masked, % of all heads or neurons"),
            color=alt.Color("series:N", title=None, scale=style.ordered(frame["series"])).legend(
                columns=1
            ),
            tooltip=["series", "update", alt.Tooltip("share", format=".1f")],
        )
        .properties(width=480, height=260)
    )


def pruning_maps(results: Results) -> alt.TopLevelMixin:
    """Draw figure 4: the heads and neurons of each block of each variant; removed ones are dark."""
    charts = []
    for variant, record in lookup.prunings(results).items():
        frame = pd.DataFrame(fates(record))
        for kind in dict.fromkeys(frame["kind"]):
            charts.append(_map(f"{variant}: {kind}", kind, frame[frame["kind"] == kind]))
    return alt.vconcat(*charts).properties(title="What movement pruning removed")


def fates(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the runs of neighbouring heads or neurons that movement pruning kept or removed together.

    Marks of 100,000 single neurons would be too many for a browser.  `first` counts from 0, `end` follows the last.
    """
    runs = []
    for kind, blocks in record["scores"].items():
        for block, scores in blocks.items():
            kept = set(record["survivors"][kind][block])
            first = 0
            for stays, members in groupby(range(len(scores)), kept.__contains__):
                end = first + len(list(members))
                run = {"kind": kind, "block": block, "fate": "kept" if stays else "removed"}
                runs.append({**run, "first": first, "end": end})
                first = end
    return runs


def _map(title: str, kind: str, frame: pd.DataFrame) -> alt.Chart:
    blocks = list(dict.fromkeys(frame["block"]))
    colors = alt.Scale(domain=["kept", "removed"], range=[style.KEPT, style.REMOVED])
    x = alt.X("first:Q", title=kind).scale(nice=False).axis(style.integers(grid=False))
    return (
        alt.Chart(frame, title=title)
        .mark_rect(aria=False)  # thousands of marks: omit a label for each
        .encode(
            x=x,
            x2="end:Q",
            y=alt.Y("block:N", title=None, sort=blocks).axis(grid=False),
            color=alt.Color("fate:N", title=None, scale=colors),
            tooltip=["block", "fate", "first", "end"],
        )
        .properties(width=520, height=14 * len(blocks))
    )
