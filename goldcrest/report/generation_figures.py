"""TEXTGEN's figures 3 and 4 from what movement pruning recorded: the shares that were masked, and what went."""

import altair as alt
import pandas as pd

from goldcrest.generation.movement import mask_rows
from goldcrest.report.generation_results import GenerationResults

COLOR = alt.Scale(scheme="tableau10")


def threshold_schedule(results: GenerationResults) -> alt.TopLevelMixin:
    """Figure 3: the masked shares of heads and neurons by update."""
    rows = [
        {"series": f"{variant}: {kind}", "update": row["update"], "share": 100 * row[kind]}
        for variant, record in results.prunings.items()
        for row in record["schedule"]
        for kind in ("heads", "neurons")
        if kind in row
    ]
    columns = ["series", "update", "share"]
    return (
        alt.Chart(pd.DataFrame(rows, columns=columns), title="Shares masked in movement pruning")
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("update:Q", title="update"),
            y=alt.Y("share:Q", title="masked, %"),
            color=alt.Color("series:N", title=None, sort=None, scale=COLOR),
            tooltip=["series", "update", alt.Tooltip("share", format=".1f")],
        )
        .properties(width=480, height=260)
    )


def pruning_maps(results: GenerationResults) -> alt.TopLevelMixin:
    """Figure 4: of each variant which heads and which neurons of each block went, dark where they did."""
    charts = []
    for variant, record in results.prunings.items():
        frame = pd.DataFrame(mask_rows(record))
        frame["fate"] = frame["kept"].map({1: "kept", 0: "removed"})
        for kind in dict.fromkeys(frame["kind"]):
            charts.append(_map(f"{variant}: {kind}", kind, frame[frame["kind"] == kind]))
    return alt.vconcat(*charts)


def _map(title: str, kind: str, frame: pd.DataFrame) -> alt.Chart:
    blocks = list(dict.fromkeys(frame["block"]))
    few = kind == "heads"
    fates = alt.Scale(domain=["kept", "removed"], range=["#d5e0ea", "#1f3b57"])
    return (
        alt.Chart(frame, title=title)
        .mark_rect()
        .encode(
            x=alt.X("number:O", title=kind, axis=alt.Axis(labels=few, ticks=few)),
            y=alt.Y("block:N", title=None, sort=blocks),
            color=alt.Color("fate:N", title=None, scale=fates),
            tooltip=["block", "number", "fate", alt.Tooltip("score", format=".3f")],
        )
        .properties(width=520, height=14 * len(blocks))
    )


FIGURES = {"textgen_figure3": threshold_schedule, "textgen_figure4": pruning_maps}
