"""First page of a generation experiment: every model with the steps that made it smaller."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from weebill.experiment import pipelines
from weebill.report import noise
from weebill.report.costs import Job, hours
from weebill.report.front.front import Example, Front, cost_sentence, hours_cell, spread, times
from weebill.report.lookups import generation as lookup
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, three_digits

FIGURE = "generation_front"
SHORTEST = 600  # characters of the shortest article that an example shows
CONTROL = "× control: score divided by the control's, which was trained as long with nothing removed or rounded."


def front(
    results: Results, jobs: Sequence[Job], stages: Sequence[tuple[str, Sequence[str]]]
) -> Front:
    """Return the first page."""
    config = results.config
    models = pipelines.piped_models(config)
    setting = [
        ("Models", ", ".join(f"{m} ({pipelines.task_of(config, m)})" for m in models)),
        ("Data", ", ".join(config["data"])),
        ("Machine", ", ".join(sorted({one.hardware for one in results.speeds}))),
        ("Seed", str(config["seed"])),
    ]
    verdict = [line for model in models if (line := _sentence(results, model))][:2]
    verdict += below_lead(results)
    verdict.append(cost_sentence(jobs, stages))
    title = f"{config['experiment']}: small models that generate text"
    return Front(
        title, setting, [one for one in verdict if one], variants_table(results, jobs), FIGURE
    )


def metric_of(results: Results, variant: str) -> str:
    """Return the metric that is shown for a variant; all variants of a model have the same."""
    config, model = results.config, pipelines.model_of(variant)
    task = pipelines.task_of(config, model)
    return lookup.metric_of(results, task, pipelines.variants_of(config, model))


def _sentence(results: Results, model: str) -> str:
    """Say how much smaller and faster a model's smallest variant is than its first, and its loss in quality."""
    variants = [v for v in pipelines.variants_of(results.config, model) if results.size(v)]
    if len(variants) < 2:
        return ""
    base = lookup.baseline(results, variants[0])
    one = min(variants, key=lambda v: results.size(v).parameter_bytes)
    if one == base:
        return ""
    mib = [results.mebibytes(v) for v in (one, base)]
    told = f"`{one}` is {times(*reversed(mib))}× smaller than `{base}` ({mib[0]} MiB instead of {mib[1]})"
    speeds = [lookup.speed(results, v) for v in (one, base)]
    if all(speeds):
        ratio = times(*map(lookup.seconds, reversed(speeds)))
        told += f" and {ratio}× as fast{noise.warning(*speeds)}"
    name = metric_of(results, one)
    score, other = (lookup.quality(results, v, name) for v in (one, base))
    if score and other:
        own, low, high = lookup.texts(score, name)
        bounds = f"95 % interval {low} to {high}"
        told += f". Its {name} is {own} ({bounds}), that of `{base}` {lookup.texts(other, name)[0]}"
        control = pipelines.control_of(results.config, one)
        if same := lookup.quality(results, control, name) if control else None:
            told += f", that of its control `{control}` {lookup.texts(same, name)[0]}"
    return f"{told}."


def below_lead(results: Results) -> list[str]:
    """Say that no model writes better summaries than the beginnings of the articles, if it is so."""
    task = "summarization"
    variants, metric = lookup.variants_for(results.config, task), lookup.METRICS[task][0]
    scored = [one for v in variants if (one := lookup.quality(results, v, metric))]
    leads = lookup.leads_for(results, [metric])
    if not scored or not leads:
        return []
    best, lead = (max(some, key=lambda one: one.score) for some in (scored, leads))
    if best.score > lead.score:
        return []
    own, beginning = (lookup.texts(one, metric)[0] for one in (best, lead))
    return [
        f"No model here summarizes better than the beginnings of the articles, whose {metric} is {beginning}: the "
        f"best, `{best.variant}`, has {own}. Its text is too small to learn more, so what a step costs a good model "
        "does not follow."
    ]


def _texts(results: Results, variant: str, metric: str) -> list[str]:
    return lookup.texts(lookup.quality(results, variant, metric), metric)


def variants_table(results: Results, jobs: Sequence[Job] = ()) -> Table:
    """Return the table of the first page: a row for each variant, with its gain over its model's first variant."""
    rows = []
    controlled = any(lookup.controls(results.config, task) for task in lookup.METRICS)
    for variant in pipelines.variants(results.config):
        base, name = lookup.baseline(results, variant), metric_of(results, variant)
        (score, *bounds), (other, *_) = (_texts(results, v, name) for v in (variant, base))
        kind = "none" if variant == base else "ratio"
        cells = [variant, name, Cell.compared(score, other, kind), *bounds]
        if controlled:
            control = pipelines.control_of(results.config, variant)
            cells.append(times(score, _texts(results, control, name)[0]) if control else "")
        own, whole = (results.mebibytes(v) for v in (variant, base))
        timed = lookup.speed(results, variant)
        seconds, first = (lookup.seconds(one) for one in (timed, lookup.speed(results, base)))
        mark = noise.mark(timed.seconds) if timed else ""
        cells += [own, times(whole, own), Cell(seconds, mark=mark), times(first, seconds)]
        cells += [three_digits(timed.milliseconds_per_token) if timed else ""]
        cells.append(hours_cell(hours(jobs, ["step"], [variant])))
        rows.append(Row.of(cells, baseline=variant == base))
    return Table(
        "models",
        "The models in short",
        "Each model by the steps that made it: quality, size, time and cost.",
        (
            *Column.texts(variant="Variant", metric="Metric"),
            Column("score", "Score", deltas=True),
            *Column.grouped("Score, 95 %", score_low="from", score_high="to"),
            *([Column("control", "× control")] if controlled else []),
            Column("mib", "MiB"),
            Column("smaller", "× smaller"),
            Column("seconds", "s an example"),
            Column("faster", "× faster"),
            Column("token_ms", "ms a token"),
            Column("hours", "Hours"),
        ),
        rows,
        [
            "× and the numbers in brackets compare with the model's first variant. Hours: time of this step alone.",
            *([CONTROL] if controlled else []),
            *noise.notes(rows),
        ],
    )


def examples(results: Results, files: Mapping[str, Sequence[str]]) -> list[Example]:
    """Return articles with the summaries of the first model's variants; only their position selects articles.

    files: "data": the text of the first summarizer; "summaries": VARIANT.jsonl of its variants.
    """
    from weebill.generation.data import read_part
    from weebill.text_files import read_lines

    if not files.get("data"):
        return []
    rows = read_part(Path(files["data"][0]), "test")
    known = pipelines.variants(results.config)
    said = {}
    for path in files["summaries"]:
        variant = next(v for v in known if path.endswith(f"/{v}.jsonl"))
        said[variant] = [json.loads(line) for line in read_lines(path)]
    found = []
    for index in spread(len(rows)):
        article = rows[index]["article"]
        cut = article if len(article) <= SHORTEST else f"{article[:SHORTEST].rsplit(' ', 1)[0]} …"
        texts = [("article", cut), ("reference", rows[index]["summary"])]
        found.append(Example([*texts, *((v, lines[index]) for v, lines in said.items())]))
    return found
