"""Figures of COMETINHO from our measurements: times (1, 2, 3, 7), layer weights (4), pruned quality (5, 6)."""

from functools import partial

import altair as alt
import pandas as pd

from weebill.experiment import metrics
from weebill.report.figures import style
from weebill.report.results import Results

WIDTH, HEIGHT = 420, 280
SIZE, QUALITY = style.PALETTE[:2]
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
# Figure 1 leaves out what sorting and caching do alone.
PARTS_OF_THE_WAY = (metrics.SORTED, metrics.CACHED)


def time_figure(results: Results, name: str) -> alt.TopLevelMixin:
    """Draw figure 1, 2, 3 or 7: seconds by amount, with lines by metric (3: the reference) and way of scoring."""
    study, axis, title = TIMES[name]
    rows = [
        (f"{one.metric}, {one.way}", one.amount, one.median, min(one.seconds), max(one.seconds))
        for one in results.speeds
        if one.study == study
        and not (name == "cometinho_figure1" and one.way in PARTS_OF_THE_WAY)
        and not (name == "cometinho_figure3" and one.metric != metrics.REFERENCE)
    ]
    columns = ["metric", "amount", "seconds", "fastest", "slowest"]
    colors = _way_colors(results, [row[0] for row in rows])
    base = alt.Chart(pd.DataFrame(rows, columns=columns)).encode(
        x=alt.X("amount:Q", title=axis)
        .scale(zero=False)
        .axis(style.integers(row[1] for row in rows)),
        color=alt.Color("metric:N", title="Metric and scorer", scale=colors).legend(columns=2),
        tooltip=[*columns[:2], *(alt.Tooltip(key, format=".2f") for key in columns[2:])],
    )
    seconds = alt.Y("seconds:Q", title="seconds on one core; the bars: all rounds")
    bars = base.mark_rule().encode(y="fastest:Q", y2="slowest:Q")
    return _titled(bars + base.mark_line(point=True).encode(y=seconds), title)


figure1, figure2, figure3, figure7 = (partial(time_figure, name=name) for name in TIMES)


def _way_colors(results: Results, shown: list[str]) -> alt.Scale:
    """Return the colours of the shown metrics and ways of scoring; they are the same in all figures of times."""
    every = style.ordered(f"{one.metric}, {one.way}" for one in results.speeds)
    colors = dict(zip(every.domain, every.range, strict=True))
    domain = list(dict.fromkeys(shown))
    return alt.Scale(domain=domain, range=[colors[name] for name in domain])


def layer_weights(results: Results) -> alt.TopLevelMixin:
    """Draw figure 4: the weight of each state of the reference's encoder, relative to the largest."""
    size = results.size(metrics.REFERENCE)
    weights = size.state_weights if size else []
    chart = alt.Chart(pd.DataFrame({"state": range(len(weights)), "weight": weights})).mark_bar()
    chart = chart.encode(
        x=alt.X("state:O", title="state of the encoder, 0 the embeddings").axis(labelAngle=0),
        y=alt.Y("weight:Q", title="weight, as a share of the largest"),
        tooltip=["state", alt.Tooltip("weight", format=".3f")],
    )
    return _titled(chart, "Weights of the encoder's states")


def quality_curve(results: Results, name: str) -> alt.TopLevelMixin:
    """Draw figure 5, 6a or 6b: agreement on the development set, and parameters, by pruned amount."""
    part, axis, title = CURVES[name]
    if neurons := metrics.neurons_before(results.config, part):
        title += f", {1 - neurons:g} of the neurons kept"
    frame = pd.DataFrame(_curve(results, part), columns=["kept", "tau", "low", "high", "millions"])
    base = alt.Chart(frame).encode(
        x=alt.X(
            "kept:Q",
            title=axis,
            axis=style.integers(frame["kept"]) if part == "layers" else alt.Axis(),
        ).scale(reverse=part != "layers", zero=False),
        tooltip=[alt.Tooltip(key, format=".3f") for key in frame.columns],
    )
    tau = alt.Y("tau:Q", title="agreement with people on the development set, τ")
    tau = tau.scale(zero=False).axis(titleColor=QUALITY)
    quality = base.mark_rule(color=QUALITY).encode(y="low:Q", y2="high:Q")
    quality += base.mark_line(point={"color": QUALITY}, color=QUALITY).encode(y=tau)
    millions = alt.Y("millions:Q", title="million parameters (dashed)")
    millions = millions.scale(zero=False).axis(titleColor=SIZE)
    size = base.mark_line(point={"color": SIZE}, color=SIZE, strokeDash=[5, 4]).encode(y=millions)
    return _titled(alt.layer(quality, size).resolve_scale(y="independent"), title)


figure5, figure6a, figure6b = (partial(quality_curve, name=name) for name in CURVES)


def _curve(results: Results, part: str) -> list[tuple[float, ...]]:
    """Return a row for the metric before pruning, then for each metric with less of a part (development set)."""
    begin = metrics.recipe_without(neurons=metrics.neurons_before(results.config, part))
    known = {metrics.REFERENCE: [], **metrics.pruned_metrics(results.config)}
    amounts = {metric: 0 for metric, recipe in known.items() if recipe == begin}
    amounts |= zip(
        metrics.curve(results.config, part), results.config["pruning"][part], strict=True
    )
    rows = []
    for metric, amount in amounts.items():
        one, size = results.agreement(metric, "development"), results.size(metric)
        if one and size:
            kept = amount if part == "layers" else 1 - amount
            rows.append((kept, one.tau, one.low, one.high, size.parameters / 1e6))
    return rows


def _titled(chart: alt.TopLevelMixin, title: str) -> alt.TopLevelMixin:
    return chart.properties(width=WIDTH, height=HEIGHT, title=title)
