"""Figure of the cleaning report: rows lost to each filter, injected damage found, and histograms of scores."""

from collections.abc import Sequence
from itertools import cycle

import altair as alt
import pandas as pd

from weebill.corpus.report import STEPS, CorpusReport, Histogram, waterfall
from weebill.experiment.scores import SCORES
from weebill.report.figures import style

ROWS = alt.Tooltip("rows:Q", format=",")
_KINDS = {"rows in": style.NEUTRAL, "dropped": style.PALETTE[1], "kept": style.PALETTE[2]}


def cleaning_figure(reports: Sequence[CorpusReport]) -> alt.VConcatChart:
    """Draw a waterfall for each corpus, then the fate of each labelled kind of damage, then every score."""
    charts = [_waterfall(report) for report in reports]
    charts += [_damage(report) for report in reports if report.labelled]
    charts += [
        _histogram(report.name, name, found)
        for report in reports
        for name, found in report.scores.items()
    ]
    return alt.vconcat(*charts, title="Cleaning of the corpora").resolve_scale(color="independent")


def _waterfall(report: CorpusReport) -> alt.LayerChart:
    bars = [("rows in", 0, report.rows, report.rows, "rows in")]
    for step in waterfall(report):
        ends = (step["rows_after"], step["rows_before"])
        bars.append((step["filter"], *ends, step["dropped"], "dropped"))
    bars.append(("kept", 0, report.kept, report.kept, "kept"))
    data = pd.DataFrame(bars, columns=["step", "from", "to", "rows", "kind"])
    data["label"] = [
        f"{'−' if kind == 'dropped' else ''}{rows:,} ({_share(rows, report.rows)})"
        for *_, rows, kind in bars
    ]
    order = list(data["step"])
    base = alt.Chart(data).encode(y=alt.Y("step:N", sort=order, title=None))
    colors = alt.Scale(domain=list(_KINDS), range=list(_KINDS.values()))
    bar = base.mark_bar().encode(
        x=alt.X("from:Q", title="rows").axis(format=",d", tickCount=5),
        x2="to:Q",
        color=alt.Color("kind:N", scale=colors, legend=None),
        tooltip=["step", ROWS],
    )
    text = base.mark_text(align="left", dx=4).encode(x="to:Q", text="label:N")
    # Leave room at the right for the labels of bars that end there.
    room = alt.Chart(pd.DataFrame({"x": [1.25 * max(report.rows, 1)]})).mark_point(opacity=0)
    title = f"Cleaning of {report.name}: {report.rows:,} rows in, {report.kept:,} kept"
    return (bar + text + room.encode(x="x:Q")).properties(title=title, width=520)


def _share(rows: int, of: int) -> str:
    share = rows / max(of, 1)
    return "<0.1%" if 0 < share < 0.0005 else f"{share:.1%}"


def _damage(report: CorpusReport) -> alt.Chart:
    fates = [*STEPS, "kept"]
    rows = [
        (label or "undamaged", name or "kept", count, fates.index(name or "kept"))
        for label, counts in report.noise.items()
        for name, count in counts.items()
    ]
    data = pd.DataFrame(rows, columns=["damage", "fate", "rows", "order"])
    present = [name for name in fates if name in set(data["fate"])]
    colors = alt.Scale(domain=present, range=_colours(present))
    chart = alt.Chart(data).mark_bar()
    return chart.encode(
        y=alt.Y("damage:N", title=None),
        x=alt.X("rows:Q", stack="normalize", title="share of the damaged rows").axis(format="%"),
        color=alt.Color("fate:N", title="dropped by", sort=present, scale=colors).legend(columns=5),
        order="order:Q",
        tooltip=["damage", "fate", ROWS],
    ).properties(title=f"What became of the damaged rows of {report.name}", width=520)


def _histogram(corpus: str, name: str, found: Histogram) -> alt.Chart:
    rows = [
        (start, end, count, fate)
        for fate, counts in (("kept", found.kept), ("dropped", found.dropped))
        for start, end, count in zip(found.edges, found.edges[1:], counts, strict=False)
    ]
    data = pd.DataFrame(rows, columns=["from", "to", "rows", "fate"])
    score = SCORES[name]
    better = "higher" if score.higher_is_better else "lower"
    colors = {fate: _KINDS[fate] for fate in ("kept", "dropped")}
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    chart = alt.Chart(data).mark_bar()
    return chart.encode(
        x=alt.X("from:Q", bin="binned", title=f"{score.unit} ({better} is better)"),
        x2="to:Q",
        y=alt.Y("rows:Q", stack="zero", title="rows").axis(format=",d", tickCount=4),
        color=alt.Color("fate:N", title="by the scores", scale=scale),
        tooltip=["from", "to", "fate", ROWS],
    ).properties(title=f"{name} of {corpus}", width=520, height=140)


_PALETTE = [
    *("#4c78a8", "#f58518", "#e45756", "#72b7b2", "#54a24b", "#eeca3b", "#b279a2"),
    *("#ff9da6", "#9d755d", "#79706e", "#9ecae9", "#ffbf79", "#8cd17d", "#d67195"),
    *("#b6992d", "#8c6bb1", "#3690c0", "#02818a", "#525252", "#a63603", "#c51b8a"),
    *("#5254a3", "#637939", "#e7298a", "#1b9e77", "#7570b3", "#a6761d", "#e6ab02", "#66a61e"),
]


def _colours(present: Sequence[str]) -> list[str]:
    named = dict(zip(STEPS, cycle(_PALETTE), strict=False)) | {"kept": "#d9d9d9"}
    return [named[name] for name in present]
