"""Figures 3 and 4 of TEXTGEN from our records of movement pruning: masked shares, and removed parts."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import altair as alt
import pandas as pd

from weebill.report.figures import style
from weebill.report.lookups import generation as lookup
from weebill.report.results import Results

COLUMNS = ["variant", "model", "step", "metric", "score", "mib", "seconds"]


def front(results: Results) -> alt.TopLevelMixin:
    """Draw the quality of every variant by size and by time, in a row of two panels for each task."""
    panels = []
    for task in lookup.METRICS:
        rows, variants = [], lookup.variants_for(results.config, task)
        name = lookup.metric_of(results, task, variants)
        for variant in variants:
            quality = lookup.quality(results, variant, name)
            size, speed = results.size(variant), lookup.speed(results, variant)
            if quality and size and speed:
                last = lookup.methods(results, variant)[-1]
                numbers = (quality.score, size.mib, speed.seconds_per_example)
                rows.append((variant, variant.split("/")[0], last, name, *numbers))
        if rows:
            frame = pd.DataFrame(rows, columns=COLUMNS)
            panels.append(_quality_panels(frame))
    title = alt.Title(
        f"Quality by size and time ({results.config['experiment']})",
        subtitle="Lines lead from each variant to those that are made out of it.",
    )
    return alt.vconcat(*panels).resolve_scale(color="independent").properties(title=title)


def _quality_panels(frame: pd.DataFrame) -> alt.HConcatChart:
    panels = []
    steps = list(dict.fromkeys(frame["step"]))
    for key, title in (
        ("mib", "MiB on disk (log)"),
        ("seconds", "seconds an example, one core (log)"),
    ):
        x = alt.X(key, type="quantitative", title=title)
        base = alt.Chart(frame).encode(
            x=x.scale(type="log", nice=False, padding=20),
            y=alt.Y("score:Q", title=f"{frame['metric'].iloc[0]}, test part").scale(
                zero=False, padding=15
            ),
        )
        line = _steps(frame, key).mark_rule(color=style.NEUTRAL, opacity=0.6)
        points = base.mark_point(filled=True, size=90).encode(
            color=alt.Color("step:N", title="Last step", scale=style.ordered(steps)),
            shape=alt.Shape("model:N", title="Model"),
            tooltip=["variant", alt.Tooltip("score", format=".3f"), alt.Tooltip(key, format=".3g")],
        )
        panels.append(alt.layer(line, points).properties(width=400, height=260))
    return alt.hconcat(*panels, spacing=30)


def _steps(frame: pd.DataFrame, key: str) -> alt.Chart:
    """Return a chart of the steps from each variant to the variants made from it."""
    columns = ["variant", key, "score"]
    made = frame.assign(parent=frame["variant"].str.rpartition("/")[0])
    pairs = made.merge(
        frame[columns], left_on="parent", right_on="variant", suffixes=("", "_before")
    )
    ends = {"x2": f"{key}_before:Q", "y": "score:Q", "y2": "score_before:Q"}
    return alt.Chart(pairs).encode(x=alt.X(f"{key}:Q").scale(type="log"), **ends)


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
            x=alt.X(
                "update:Q", title="update of the training", axis=style.integers(frame["update"])
            ),
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

    A browser cannot show marks of 100,000 single neurons.  `first` counts from 0; `end` is one after the last.
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
        .mark_rect(aria=False)  # no labels for thousands of marks
        .encode(
            x=x,
            x2="end:Q",
            y=alt.Y("block:N", title=None, sort=blocks).axis(grid=False),
            color=alt.Color("fate:N", title=None, scale=colors),
            tooltip=["block", "fate", "first", "end"],
        )
        .properties(width=520, height=14 * len(blocks))
    )
