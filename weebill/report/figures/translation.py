"""Figures of a translation experiment: quality, speed and size, encoder heads after pruning, and trainings."""

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from weebill.experiment.precisions import grid_of
from weebill.report.figures import colors, style
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results

COLUMNS = ["variant", "name", "pruning", "numbers", "score", "words_per_second", "engine"]
COLUMNS += ["mib", "lightness", "parameters"]


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return False for each (gain, score) if another is at least as good in both and better in one, else True."""
    return [
        not any(x >= gain and y >= score and (x, y) != (gain, score) for x, y in points)
        for gain, score in points
    ]


def front(results: Results) -> alt.TopLevelMixin:
    """Draw BLEU by words per second and by size; a line joins the variants that no other beats in both."""
    data = _front_data(results)
    bleu = f"BLEU, {lookup.scored_text(results)}"
    words = "source words per second, one core (log)"
    speed = _panel(results, data, "words_per_second", "words_per_second", words, bleu)
    size = _panel(
        results, data, "mib", "lightness", "MiB on disk (log; smaller is to the left)", bleu
    )
    title = alt.Title(
        f"Quality against speed and size ({results.config['experiment']})",
        subtitle="The dashed line joins the models that no other beats in both. "
        "Named: the teacher and the students before pruning.",
    )
    return alt.hconcat(speed, size, spacing=30).properties(title=title)


def _panel(
    results: Results, data: pd.DataFrame, key: str, gain: str, title: str, bleu: str
) -> alt.LayerChart:
    """Draw BLEU by `key`, with the line of the best variants by `gain`, which grows as `key` gets better."""
    scale = alt.Scale(type="log", nice=False, padding=44)
    axis = alt.Axis(labelOverlap="greedy", tickCount=5)
    x = alt.X(key, type="quantitative", title=title, scale=scale, axis=axis)
    y = alt.Y("score:Q", title=bleu, scale=alt.Scale(zero=False, padding=22))
    best = pareto(list(zip(data[gain], data["score"], strict=True)))
    line = alt.Chart(data[best]).mark_line(color=style.NEUTRAL, strokeDash=[5, 4])
    points = alt.Chart(data).mark_point(filled=True, size=90, opacity=0.9)
    dots = points.encode(
        x=x,
        y=y,
        color=alt.Color(
            "pruning:N",
            title="Pruning",
            scale=colors.method_colors(results.config, data["pruning"]),
        ),
        shape=alt.Shape(
            "numbers:N", title="Precision", scale=colors.number_shapes(data["numbers"])
        ),
        tooltip=[
            alt.Tooltip("variant", title="Variant"),
            alt.Tooltip("score", title="BLEU", format=".2f"),
            alt.Tooltip("words_per_second", title="Words/s, 1 core", format=",.0f"),
            alt.Tooltip("engine", title="by"),
            alt.Tooltip("mib", title="MiB", format=".2f"),
            alt.Tooltip("parameters", title="Parameters", format=","),
        ],
    )
    named = data[(data["name"] != "") & ~data.duplicated([key, "score"])]
    names = alt.Chart(named).mark_text(dy=-12, fontSize=11)
    layers = [line.encode(x=x, y=y), dots, names.encode(x=x, y=y, text="name:N")]
    return alt.layer(*layers).properties(width=420, height=340)


def _front_data(results: Results) -> pd.DataFrame:
    rows = []
    for variant, score in lookup.scores(results).items():
        speed, size = lookup.speed(results, variant), results.size(variant)
        if speed and size:
            name = variant.student if variant == variant.baseline else ""
            if variant.student == lookup.TEACHER:
                name = f"teacher, {variant.recipe}"
            pruning = colors.method_of(results.config, variant.recipe)
            row = (str(variant), name, pruning, grid_of(variant.precision), score.bleu)
            row += (speed.words_per_second, speed.engine)
            rows.append((*row, size.mib, -size.parameter_bytes, size.parameters))
    return pd.DataFrame(rows, columns=COLUMNS)


def sizes(results: Results) -> alt.TopLevelMixin:
    """Draw the MiB of every variant of the students, and the MiB after compression by xz."""
    rows = [
        (str(variant), grid_of(variant.precision), size.mib, size.xz_mib)
        for variant in lookup.students(results)
        if (size := results.size(variant))
    ]
    frame = pd.DataFrame(rows, columns=["variant", "numbers", "mib", "xz"])
    base = alt.Chart(frame).encode(y=alt.Y("variant:N", sort=None, title=None).axis(grid=False))
    # Leave room for the number of the longest bar.
    room = alt.Scale(domain=[0, frame["mib"].max() * 1.12], nice=False)
    bars = base.mark_bar(height={"band": 0.7}).encode(
        x=alt.X("mib:Q", title="MiB on disk; the mark: after xz", scale=room),
        color=alt.Color(
            "numbers:N", title="Precision", scale=colors.number_colors(frame["numbers"])
        ),
        tooltip=[
            alt.Tooltip("variant", title="Variant"),
            alt.Tooltip("mib", title="MiB", format=".2f"),
            alt.Tooltip("xz", title="MiB after xz", format=".2f"),
        ],
    )
    marks = base.mark_tick(color="black", thickness=2, height={"band": 0.7}).encode(x="xz:Q")
    number = alt.Text("mib:Q", format=".2f")
    numbers = base.mark_text(align="left", dx=4).encode(x="mib:Q", text=number)
    title = f"Sizes of the students ({results.config['experiment']})"
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
    # The cells show the numbers, so the colours need no legend.
    color = alt.Color("heads:Q", legend=None).scale(domain=[0, int(most)], scheme=style.SEQUENCE)
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
        x=alt.X(
            "update:Q", title="updates of the training", axis=style.integers(row[1] for row in rows)
        ),
        y=alt.Y("bleu:Q", title="BLEU on the validation set, greedy search").scale(zero=False),
        color=alt.Color("model:N", title="Model", scale=style.ordered(courses)),
        tooltip=["model", "update", alt.Tooltip("bleu", title="BLEU", format=".2f")],
    ).properties(width=560, height=300, title=title)
