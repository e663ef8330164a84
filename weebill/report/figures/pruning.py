"""Figures of pruning: quality by removed parts and by speed, and the step in which each head was removed."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from weebill.evaluation.measurement import Variant
from weebill.evaluation.size.translation_size import Size
from weebill.experiment.precisions import grid_of
from weebill.experiment.variants import UNPRUNED
from weebill.pruning.methods import pruning_method
from weebill.report.figures import colors, style
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results

HEIGHT = 320
POINT = ["student", "method", "recipe", "score", "low", "high"]  # columns of every point
APART = 0.008  # distance, as a share of the axis, between methods that removed the same amount


def quality_by_heads(results: Results) -> alt.TopLevelMixin:
    """Draw BLEU by the number of removed encoder heads, with a line for each method from the unpruned student on."""
    return _curves(results, "heads", "encoder heads removed", style.integers())


def quality_by_neurons(results: Results) -> alt.TopLevelMixin:
    """Draw BLEU by the share of removed feed-forward neurons of the encoder."""
    title = "share of the encoder's feed-forward neurons removed"
    return _curves(results, "neurons", title, alt.Axis(format=".0%"))


def _points(results: Results) -> pd.DataFrame:
    """Return a row for each pruned float32 student, and one for the unpruned student."""
    rows = {}
    for one in results.comparisons:
        variant, baseline = Variant.parse(one.variant), Variant.parse(one.baseline)
        if baseline.recipe != UNPRUNED or variant.precision != "float32":
            continue
        method = pruning_method(results.config["pruning"][variant.recipe])
        whole = (one.baseline_score, one.baseline_low, one.baseline_high)
        rows[one.baseline] = _point(baseline, UNPRUNED, *whole)
        rows[one.variant] = {
            **_point(variant, method.label, one.score, one.low, one.high),
            **_removed(results.size(variant), results.size(baseline)),
            "baseline": method.baseline is not None,
        }
    frame = pd.DataFrame(
        list(rows.values()), columns=[*POINT, "heads", "neurons", "what", "baseline"]
    )
    return frame.fillna({"heads": 0, "neurons": 0.0, "what": "nothing", "baseline": False})


def _point(variant: Variant, method: str, score: float, low: float, high: float) -> dict[str, Any]:
    values = (variant.student, method, variant.recipe, score, low, high)
    return dict(zip(POINT, values, strict=True))


def _removed(size: Size, whole: Size) -> dict[str, Any]:
    """Return the number of removed encoder heads, the share of removed neurons, and the kind of part in words."""
    layers, all_layers = size.architecture["encoder"], whole.architecture["encoder"]
    heads, neurons = (
        sum(layer[key] for layer in all_layers) - sum(layer[key] for layer in layers)
        for key in ("heads", "feed_forward")
    )
    kinds = [kind for kind, count in (("heads", heads), ("neurons", neurons)) if count]
    what = "layers" if len(layers) < len(all_layers) else " and ".join(kinds) or "nothing"
    share = neurons / sum(layer["feed_forward"] for layer in all_layers)
    return {"heads": heads, "neurons": share, "what": what}


def _curves(results: Results, key: str, title: str, axis: alt.Axis) -> alt.TopLevelMixin:
    """Draw BLEU with intervals by `key`, in a panel for each student; show the methods that remove such parts."""
    points = _points(results)
    takers = points[points[key] > 0]
    methods = list(dict.fromkeys(takers["method"]))
    apart = APART * takers[key].max() if methods else 0
    place = {m: apart * (index - (len(methods) - 1) / 2) for index, m in enumerate(methods)}
    pairs = zip(takers[key], takers["method"], strict=True)
    takers = takers.assign(shown=[value + place[method] for value, method in pairs])
    x = alt.X("shown:Q", title=title, axis=axis)
    bleu, panels = _bleu(results), []
    for student in dict.fromkeys(takers["student"]):
        own = points[points["student"] == student]
        unpruned = own[own["recipe"] == UNPRUNED].assign(shown=0)
        taken = takers[takers["student"] == student]
        panels.append(_panel(student, unpruned, taken, _color(results, methods), x, bleu))
    subtitle = "Bars: 95 % bootstrap intervals. Dashed: baselines. Grey: not pruned. Methods stand a little apart."
    panels = panels or [alt.Chart().mark_text().encode(text=alt.value(style.NOTHING))]
    return alt.hconcat(*panels, spacing=30).properties(
        title=alt.Title(f"Quality by {title}", subtitle=subtitle)
    )


def _panel(
    student: str,
    unpruned: pd.DataFrame,
    taken: pd.DataFrame,
    color: alt.Color,
    x: alt.X,
    bleu: alt.Y,
) -> alt.LayerChart:
    """Draw one student: a line for each method, from the unpruned model at 0 on."""
    lines = dict.fromkeys(zip(taken["method"], taken["baseline"], strict=True))
    starts = [unpruned.assign(method=method, baseline=baseline) for method, baseline in lines]
    dashes = alt.condition("datum.baseline", alt.value([6, 4]), alt.value([1, 0]))
    layers = [
        alt.Chart(pd.concat([*starts, taken]))
        .mark_line(opacity=0.6)
        .encode(x=x, y=bleu, color=color, strokeDash=dashes)
    ]
    dots = alt.Chart(taken).encode(x=x, color=color)
    whole = alt.Chart(unpruned).encode(x=x, color=alt.value(style.NEUTRAL))
    tooltip = _tooltips(heads="Heads removed", neurons="Neurons removed")
    for chart, mark in (
        (dots, {"shape": alt.Shape("what:N", title="What was removed")}),
        (whole, {}),
    ):
        point = chart.mark_point(filled=True, size=80, opacity=1)
        layers += [
            chart.mark_rule(opacity=0.6).encode(y=alt.Y("low:Q", title=""), y2="high:Q"),
            point.encode(y=bleu, tooltip=tooltip, **mark),
        ]
    return alt.layer(*layers).properties(width=460, height=HEIGHT, title=student)


def _bleu(results: Results) -> alt.Y:
    sets = " and ".join(results.config["test_sets"])
    return alt.Y("score:Q", title=f"BLEU, {sets}").scale(padding=10, zero=False)


def _color(results: Results, methods: Sequence[str]) -> alt.Color:
    scale = colors.method_colors(results.config, methods)
    return alt.Color("method:N", title="Method", scale=scale).legend(columns=2)


def _tooltips(**more: str) -> list[alt.Tooltip]:
    """Return the tooltips of a point: the recipe, its scores, and `more` numbers (key → title)."""
    formats = {"neurons": ".0%", "words_per_second": ",.0f"}
    scores = {"score": "BLEU", "low": "95 %, from", "high": "to"}
    names = [alt.Tooltip(f"{k}:N", title=k.capitalize()) for k in ("student", "recipe", "method")]
    names += [alt.Tooltip(f"{k}:Q", title=title, format=".2f") for k, title in scores.items()]
    return names + [
        alt.Tooltip(f"{k}:Q", title=title, format=formats.get(k, "")) for k, title in more.items()
    ]


def quality_by_speed(results: Results) -> alt.TopLevelMixin:
    """Draw BLEU of pruned and unpruned students by the runtime's words per second."""
    scores = {}
    for one in results.comparisons:
        if Variant.parse(one.baseline).recipe == UNPRUNED:
            scores[one.baseline] = (one.baseline_score, one.baseline_low, one.baseline_high)
        scores[one.variant] = (one.score, one.low, one.high)
    rows = []
    for variant in map(Variant.parse, scores):
        if speed := lookup.runtime_speed(results, variant):
            recipe = results.config["pruning"].get(variant.recipe)
            method = pruning_method(recipe).label if recipe else UNPRUNED
            point = _point(variant, method, *scores[str(variant)])
            rows.append((*point.values(), variant.precision, speed.words_per_second))
    frame = pd.DataFrame(rows, columns=[*POINT, "precision", "words_per_second"])
    methods = [m for m in dict.fromkeys(frame["method"]) if m != UNPRUNED]
    grey = alt.value(style.NEUTRAL)
    color = alt.condition(alt.datum.method == UNPRUNED, grey, _color(results, methods))
    x = alt.X("words_per_second:Q", title="source words per second by the runtime, one core")
    x = x.scale(padding=20, zero=False).axis(labelOverlap="greedy")
    frame["numbers"] = frame["precision"].map(grid_of)
    base, bleu = alt.Chart(frame).encode(x=x, color=color), _bleu(results)
    bars = base.mark_rule(opacity=0.4).encode(y=alt.Y("low:Q", title=""), y2="high:Q")
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        y=bleu,
        shape=alt.Shape(
            "numbers:N", title="Precision", scale=colors.number_shapes(frame["numbers"])
        ),
        tooltip=[*_tooltips(words_per_second="Words/s, 1 core"), "precision:N"],
    )
    title = alt.Title(
        "Quality by speed: pruned students and their unpruned selves",
        subtitle="Bars: 95 % bootstrap intervals. Grey: not pruned.",
    )
    return alt.layer(bars, dots).properties(width=560, height=HEIGHT, title=title)


def head_maps(results: Results) -> alt.TopLevelMixin:
    """Draw the step in which each head of each layer was removed, in a panel for each student and recipe."""
    rows = [
        (
            f"{row['student']}/{row['recipe']}",
            _layer(row["block"]),
            int(row["head"]) + 1,
            int(row["removed_in"]) if row["removed_in"] else None,
            float(row["score"]) if row["score"] else None,
        )
        for row in results.head_map
    ]
    frame = pd.DataFrame(rows, columns=["recipe", "layer", "head", "step", "score"])
    recipes, layers = (list(dict.fromkeys(frame[key])) for key in ("recipe", "layer"))
    base = alt.Chart(frame).encode(
        x=alt.X("head:O", title="head").axis(grid=False, labelAngle=0),
        y=alt.Y("layer:N", title=None, sort=layers).axis(grid=False),
        tooltip=["recipe:N", "layer:N", "head:O", "step:Q", alt.Tooltip("score:Q", format=".4g")],
    )
    last = float(frame["step"].max()) if frame["step"].notna().any() else 1.0
    color = alt.Color("step:Q", legend=None).scale(
        domain=[0, last], reverse=True, scheme=style.SEQUENCE
    )
    every = base.mark_rect(stroke="white", strokeWidth=2, color=style.KEPT)
    went = base.transform_filter("isValid(datum.step)")
    gone = went.mark_rect(stroke="white", strokeWidth=2).encode(color=color)
    dark = alt.condition(alt.datum.step <= last / 2, alt.value("white"), alt.value("black"))
    steps = went.mark_text(fontSize=10).encode(text="step:Q", color=dark)
    return (
        alt.layer(every, gone, steps)
        .properties(width=alt.Step(24), height=alt.Step(22))
        .facet(alt.Facet("recipe:N", title=None, sort=recipes), columns=3)
        .properties(title="The step in which each head was removed; heads without a number remain")
    )


def _layer(block: str) -> str:
    """Return a block's name: "encoder 1" for self-attention in the first encoder layer; others with their kind."""
    side, number, kind = block.split(".")
    name = f"{side} {int(number) + 1}"
    return name if block.startswith("encoder.") else f"{name} {kind.removesuffix('_attention')}"
