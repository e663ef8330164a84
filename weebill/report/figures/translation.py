"""Figures of a translation experiment: quality, speed and size, encoder heads after pruning, and trainings."""

from collections.abc import Mapping, Sequence
from itertools import product

import altair as alt
import pandas as pd

from weebill.evaluation.size.translation_size import MIB
from weebill.report.figures.drawing import TABLEAU
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return True for each (gain, score) unless another point is at least as good in both and better in one."""
    return [
        not any(x >= gain and y >= score and (x, y) != (gain, score) for x, y in points)
        for gain, score in points
    ]


def front(results: Results) -> alt.TopLevelMixin:
    """Draw BLEU against words per second and against size; the line joins the variants that none beats in both."""
    data = _front_data(results)
    sets = list(results.config["test_sets"])
    picker = alt.binding_select(options=sets, name="Test set ")
    shown = alt.param(name="shown", bind=picker, value=sets[0])
    words = "source words per second, one core (log)"
    speed = _panel(data, shown, "words_per_second", "words_per_second", words)
    size = _panel(data, shown, "mib", "lightness", "MiB on disk (log; smaller is to the left)")
    title = alt.Title(
        f"Quality against speed and size ({results.config['experiment']})",
        subtitle="The line joins the variants that no other beats in both. Drag and "
        "scroll to zoom, double-click to return, hover for figures.",
    )
    return alt.hconcat(speed, size, spacing=30).add_params(shown).properties(title=title)


def _front(data: pd.DataFrame, gain: str) -> pd.Series:
    """Return True for each row that no other row of the same test set beats in `gain` and score."""
    chosen = pd.Series(False, index=data.index)
    for _, part in data.groupby("test_set", sort=False):
        chosen[part.index] = pareto(list(zip(part[gain], part["score"], strict=True)))
    return chosen


def _panel(
    data: pd.DataFrame, shown: alt.Parameter, key: str, gain: str, title: str
) -> alt.LayerChart:
    """Draw BLEU against `key`, with the line of the best by `gain`, which grows as `key` gets better."""
    scale = alt.Scale(type="log", nice=False, padding=20)
    axis = alt.Axis(labelOverlap="greedy", labelSeparation=6)
    x = alt.X(key, type="quantitative", title=title, scale=scale, axis=axis)
    y = alt.Y("score:Q", title="BLEU", scale=alt.Scale(zero=False, padding=15))
    line = alt.Chart(data[_front(data, gain)]).mark_line(color="#8899aa", strokeDash=[5, 4])
    points = alt.Chart(data).mark_point(filled=True, size=110, stroke="white", strokeWidth=0.7)
    below = alt.Legend(orient="bottom", columns=4, labelLimit=300)
    dots = points.encode(
        x=x,
        y=y,
        color=alt.Color("student:N", title="Student", scale=TABLEAU, legend=below),
        shape=alt.Shape("precision:N", title="Precision", legend=below),
        tooltip=[
            alt.Tooltip("variant", title="Variant"),
            alt.Tooltip("test_set", title="Test set"),
            alt.Tooltip("score", title="BLEU", format=".2f"),
            alt.Tooltip("interval", title="95 % interval"),
            alt.Tooltip("words_per_second", title="Words/s, 1 core", format=",.0f"),
            alt.Tooltip("engine", title="by"),
            alt.Tooltip("mib", title="MiB", format=".2f"),
            alt.Tooltip("parameters", title="Parameters", format=","),
        ],
    ).add_params(alt.selection_interval(f"zoom_{key}", bind="scales"))
    chosen = alt.datum.test_set == shown
    layers = (line.encode(x=x, y=y).transform_filter(chosen), dots.transform_filter(chosen))
    return alt.layer(*layers).properties(width=400, height=340)


def _front_data(results: Results) -> pd.DataFrame:
    rows = []
    for variant, test_set in product(lookup.variants(results), results.config["test_sets"]):
        speed, size = lookup.speed(results, variant), results.size(variant)
        bleu = lookup.measurement(results, variant, test_set)
        if bleu and speed:
            rows.append(
                {
                    "variant": str(variant),
                    "student": variant.student,
                    "precision": variant.precision,
                    "test_set": test_set,
                    "score": bleu.score,
                    "interval": f"{bleu.low:.2f} to {bleu.high:.2f}",
                    "words_per_second": speed.words_per_second,
                    "engine": speed.engine,
                    "mib": size.parameter_bytes / MIB,
                    "lightness": -size.parameter_bytes,
                    "parameters": size.parameters,
                }
            )
    return pd.DataFrame(rows)


def sizes(results: Results) -> alt.TopLevelMixin:
    """Draw the MiB of every variant of the students, and the MiB after compression by xz."""
    rows = [
        (str(variant), variant.student, size.parameter_bytes / MIB, size.xz_bytes / MIB)
        for variant in lookup.students(results)
        if (size := results.size(variant))
    ]
    frame = pd.DataFrame(rows, columns=["variant", "student", "mib", "xz"])
    base = alt.Chart(frame).encode(y=alt.Y("variant:N", sort=None, title=None).axis(grid=False))
    # Leave room for the last bar's number.
    room = alt.Scale(domain=[0, frame["mib"].max() * 1.12], nice=False)
    bars = base.mark_bar(height={"band": 0.7}).encode(
        x=alt.X("mib:Q", title="MiB on disk; the mark: after xz", scale=room),
        color=alt.Color("student:N", title="Student", scale=TABLEAU),
        tooltip=[
            alt.Tooltip("variant", title="Variant"),
            alt.Tooltip("mib", title="MiB", format=".2f"),
            alt.Tooltip("xz", title="MiB after xz", format=".2f"),
        ],
    )
    marks = base.mark_tick(color="black", thickness=2, height={"band": 0.7}).encode(x="xz:Q")
    number = alt.Text("mib:Q", format=".2f")
    numbers = base.mark_text(align="left", dx=4).encode(x="mib:Q", text=number)
    title = f"Sizes ({results.config['experiment']})"
    return alt.layer(bars, marks, numbers).properties(width=480, height=alt.Step(22), title=title)


def heads(results: Results) -> alt.TopLevelMixin:
    """Draw the encoder heads left in each layer of each student and recipe."""
    rows = [
        (f"{variant.student}/{variant.recipe}", index, layer["heads"])
        for variant, encoder in lookup.encoders(results).items()
        for index, layer in enumerate(encoder, start=1)
    ]
    frame = pd.DataFrame(rows, columns=["variant", "layer", "heads"])
    most = max(frame["heads"].max(), 1) if len(frame) else 1
    base = alt.Chart(frame).encode(
        x=alt.X("layer:O", title="encoder layer").axis(grid=False, labelAngle=0),
        y=alt.Y("variant:N", sort=None, title=None).axis(grid=False),
    )
    color = alt.Color("heads:Q", title="Heads left").scale(domain=[0, int(most)], scheme="blues")
    rectangles = base.mark_rect(stroke="white")
    rectangles = rectangles.encode(color=color, tooltip=["variant", "layer", "heads"])
    dark = alt.condition(alt.datum.heads > most * 0.6, alt.value("white"), alt.value("black"))
    numbers = base.mark_text().encode(text="heads:Q", color=dark)
    title = "Encoder attention heads left in each layer"
    chart = alt.layer(rectangles, numbers)
    return chart.properties(width=alt.Step(44), height=alt.Step(30), title=title)


def teacher_training(results: Results) -> alt.TopLevelMixin:
    """Draw the validation BLEU by update of the teacher's members."""
    courses = {folder.name: course for folder, course in results.teachers}
    return _training(courses, "How the teacher's members learnt")


def student_training(results: Results) -> alt.TopLevelMixin:
    """Draw the validation BLEU by update of the unpruned students, whose folders are STUDENT/RECIPE/PRECISION."""
    courses = {folder.parent.parent.name: course for folder, course in results.students}
    return _training(courses, "How the students learnt")


def _training(
    courses: Mapping[str, Sequence[Mapping[str, float]]], title: str
) -> alt.TopLevelMixin:
    """Draw the validation BLEU by update of some models; courses: model → {update, bleu} of each validation."""
    rows = [(m, row["update"], row["bleu"]) for m, course in courses.items() for row in course]
    chart = alt.Chart(pd.DataFrame(rows, columns=["model", "update", "bleu"])).mark_line(
        point={"size": 25}
    )
    return chart.encode(
        x=alt.X("update:Q", title="updates"),
        y=alt.Y("bleu:Q", title="BLEU on the validation set, greedy").scale(zero=False),
        color=alt.Color("model:N", title="Model", scale=TABLEAU),
        tooltip=["model", "update", alt.Tooltip("bleu", title="BLEU", format=".2f")],
    ).properties(width=560, height=300, title=title)
