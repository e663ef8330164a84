"""Figures of COMETINHO from our measurements: times (1, 2, 3, 7), layer weights (4), pruned quality (5, 6)."""

from functools import partial
from typing import Any

import altair as alt
import pandas as pd

from weebill.experiment.metrics import (
    REFERENCE,
    SORTED,
    curve,
    neurons_before,
    pruned_metrics,
    recipe_without,
)
from weebill.report.results import Results

COLOR = alt.Scale(scheme="tableau10")
WIDTH, HEIGHT = 420, 280
# figure: (pruned part, title of the axis, title)
CURVES = {
    "cometinho_figure5": ("layers", "top layers removed", "Quality without top layers"),
    "cometinho_figure6a": ("neurons", "share of neurons kept", "Quality by feed-forward size"),
    "cometinho_figure6b": ("heads", "share of heads kept", "Quality by heads"),
}
# figure: (study, title of the axis, title)
TIMES = {
    "cometinho_figure1": ("systems", "systems scored together", "Time by systems"),
    "cometinho_figure2": ("segments", "segments of one system", "Time by segments"),
    "cometinho_figure3": ("systems", "systems scored together", "Time with and without the cache"),
    "cometinho_figure7": ("candidates", "candidates of a source", "Time of a choice by Bayes risk"),
}


def time_figure(results: Results, name: str) -> alt.TopLevelMixin:
    """Draw figure 1, 2, 3 or 7: seconds by amount, a line for each metric and way of scoring.

    Figure 1 omits the way that only sorts; figure 3 shows the reference alone.
    """
    study, axis, title = TIMES[name]
    rows = [
        {
            "metric": f"{one.metric}, {one.way}",
            "amount": one.amount,
            "seconds": one.median,
            "fastest": min(one.seconds),
            "slowest": max(one.seconds),
        }
        for one in results.speeds
        if one.study == study
        and not (name == "cometinho_figure1" and one.way == SORTED)
        and not (name == "cometinho_figure3" and one.metric != REFERENCE)
    ]
    columns = ["metric", "amount", "seconds", "fastest", "slowest"]
    base = alt.Chart(pd.DataFrame(rows, columns=columns)).encode(
        x=alt.X("amount:Q", title=axis, scale=alt.Scale(zero=False), axis=alt.Axis(tickMinStep=1)),
        color=alt.Color("metric:N", title="Metric", sort=None, scale=COLOR, legend=_legend()),
        tooltip=[*columns[:2], *(alt.Tooltip(key, format=".2f") for key in columns[2:])],
    )
    seconds = alt.Y("seconds:Q", title="seconds, one core; the bars: all rounds")
    bars = base.mark_rule().encode(y="fastest:Q", y2="slowest:Q")
    return _titled(bars + base.mark_line(point=True).encode(y=seconds), title)


figure1, figure2, figure3, figure7 = (partial(time_figure, name=name) for name in TIMES)


def layer_weights(results: Results) -> alt.TopLevelMixin:
    """Draw figure 4: the weight of each state of the reference's encoder, relative to the largest."""
    size = results.size(REFERENCE)
    weights = size.state_weights if size else []
    frame = pd.DataFrame({"state": range(len(weights)), "weight": weights})
    chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("state:O", title="state of the encoder, 0 the embeddings", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("weight:Q", title="weight, of the largest"),
            tooltip=["state", alt.Tooltip("weight", format=".3f")],
        )
    )  # fmt: skip
    return _titled(chart, "Weights of the encoder's states")


def quality_curve(results: Results, name: str) -> alt.TopLevelMixin:
    """Draw figure 5, 6a or 6b: agreement on the development set, and parameters, by the amount that is pruned."""
    part, axis, title = CURVES[name]
    if neurons := neurons_before(results.config, part):
        title += f", {1 - neurons:g} of the neurons kept"
    frame = pd.DataFrame(_curve(results, part), columns=["kept", "tau", "low", "high", "millions"])
    order = "descending" if part != "layers" else "ascending"
    base = alt.Chart(frame).encode(
        x=alt.X("kept:Q", title=axis, scale=alt.Scale(zero=False, reverse=order == "descending")),
        tooltip=[alt.Tooltip(key, format=".3f") for key in frame.columns],
    )
    tau = alt.Y("tau:Q", title="agreement with people, τ", scale=alt.Scale(zero=False))
    quality = base.mark_rule(color="#54a24b").encode(y="low:Q", y2="high:Q")
    quality += base.mark_line(point=True, color="#54a24b").encode(y=tau)
    size = base.mark_line(point=True, color="#4c78a8", strokeDash=[5, 4]).encode(
        y=alt.Y("millions:Q", title="million parameters (dashed)", scale=alt.Scale(zero=False))
    )
    return _titled(alt.layer(quality, size).resolve_scale(y="independent"), title)


figure5, figure6a, figure6b = (partial(quality_curve, name=name) for name in CURVES)


def _curve(results: Results, part: str) -> list[dict[str, Any]]:
    """Return a row for the metric that is pruned, then for each metric with less of a part (development set)."""
    begin = recipe_without(neurons=neurons_before(results.config, part))
    known = {REFERENCE: [], **pruned_metrics(results.config)}
    amounts = {metric: 0 for metric, recipe in known.items() if recipe == begin}
    amounts |= zip(curve(results.config, part), results.config["pruning"][part], strict=True)
    rows = []
    for metric, amount in amounts.items():
        one, size = results.agreement(metric, "development"), results.size(metric)
        if one and size:
            millions = size.parameters / 1e6
            kept = amount if part == "layers" else 1 - amount
            row = {"kept": kept, "tau": one.tau, "low": one.low, "high": one.high}
            rows.append({**row, "millions": millions})
    return rows


def _legend() -> alt.Legend:
    return alt.Legend(orient="bottom", columns=2, labelLimit=320)


def _titled(chart: alt.TopLevelMixin, title: str) -> alt.TopLevelMixin:
    return chart.properties(width=WIDTH, height=HEIGHT, title=title)
