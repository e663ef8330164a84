"""Tables of models that generate text: all variants for each task."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from weebill.evaluation.quality.rouge import METRICS
from weebill.report import noise
from weebill.report.lookups import generation as lookup
from weebill.report.results import Results, first
from weebill.report.table import Cell, Column, Row, Table, three_digits

SCORES = {"summarization": list(METRICS), "language-modelling": ["perplexity", "bits per byte"]}
TITLES = {"summarization": "Summaries", "language-modelling": "Running text"}
LEAD = "`lead`: what the articles begin with, as long as a summary may be: a summary that needs no model."
PIECES = "Perplexity is per token: no × across a pruning of the vocabulary; compare bits per byte."


def variants_table(results: Results, task: str) -> Table:
    """Return a row for every variant of the models for a task: scores with intervals, bytes, time and memory."""
    scores = SCORES[task]
    columns = [Column("variant", "Variant", numeric=False)]
    for name in scores:
        key = name.lower().replace(" ", "_").replace("-", "_")
        columns.append(Column(key, name, "", deltas=True))
        columns += Column.grouped(name, **{f"{key}_low": "from", f"{key}_high": "to"})
    columns += [
        Column("mib", "MiB", deltas=True),
        Column("seconds", "s an example", deltas=True),
        Column("milliseconds", "ms a token"),
        Column("peak_mib", "Memory, MiB", deltas=True),
    ]
    if any(lookup.gpu_speed(results, one) for one in lookup.variants_for(results.config, task)):
        columns += [
            Column("gpu_seconds", "s an example, GPU", deltas=True),
            Column("gpu_milliseconds", "ms a token, GPU"),
            Column("gpu_mib", "GPU memory, MiB", deltas=True),
        ]
    leads = dict.fromkeys(one.variant for one in lookup.leads_for(results, scores))
    rows = [Row.of(_texts(results, lead, scores)[: len(columns)]) for lead in leads]
    for variant in lookup.variants_for(results.config, task):
        base = lookup.baseline(results, variant)
        cells = _texts(results, variant, scores)[: len(columns)]
        if variant != base:
            bases = _texts(results, base, scores)
            for index, column in enumerate(columns):
                if column.deltas and lookup.comparable(results, variant, column.key):
                    cells[index] = Cell.compared(cells[index], bases[index], "ratio")
        _mark_noise(results, variant, columns, cells)
        rows.append(Row.of(cells, baseline=variant == base))
    return Table(
        f"generation_{task.replace('-', '_')}",
        TITLES[task],
        "Every variant by the steps that made it, with 95 % bootstrap intervals; × against the model's first.",
        columns,
        rows,
        [*_notes(results, task), *noise.notes(rows)],
    )


summaries_table = partial(variants_table, task="summarization")
running_text_table = partial(variants_table, task="language-modelling")


def _mark_noise(
    results: Results, variant: str, columns: Sequence[Column], cells: list[Cell | str]
) -> None:
    """Mark the seconds of a variant whose rounds spread too much."""
    timings = {"seconds": lookup.speed, "gpu_seconds": lookup.gpu_speed}
    for index, column in enumerate(columns):
        if column.key in timings and (one := timings[column.key](results, variant)):
            cell = cells[index] if isinstance(cells[index], Cell) else Cell(cells[index])
            cells[index] = replace(cell, mark=noise.mark(one.seconds))


def _texts(results: Results, variant: str, scores: Sequence[str]) -> list[str]:
    texts = [variant]
    for name in scores:
        texts += lookup.texts(lookup.quality(results, variant, name), name)
    size, speed = results.size(variant), lookup.speed(results, variant)
    numbers = [size.mib if size else None, *[None] * 3]
    if speed:
        memory = speed.peak_mib - speed.idle_mib
        numbers[1:] = speed.seconds_per_example, speed.milliseconds_per_token, memory
    numbers += [None] * 3
    if speed := lookup.gpu_speed(results, variant):
        numbers[-3:] = speed.seconds_per_example, speed.milliseconds_per_token, speed.peak_mib
    return [*texts, *map(three_digits, numbers)]


def _notes(results: Results, task: str) -> list[str]:
    chosen = set(lookup.variants_for(results.config, task))
    leads = lookup.leads_for(results, SCORES[task])
    measured = [*(one for one in results.qualities if one.variant in chosen), *leads]
    notes = [LEAD] if leads else []
    if not all(
        lookup.comparable(results, variant, name) for variant in chosen for name in SCORES[task]
    ):
        notes.append(PIECES)
    for signature, data in dict.fromkeys((one.signature, one.data) for one in measured):
        one = first(measured, signature=signature, data=data)
        scored = "" if one.tokens is None else f", {one.tokens:,} tokens"
        notes.append(
            f"`{signature}`: {one.examples:,} "
            f"{'summaries' if one.tokens is None else 'windows'}{scored} of {data}, SHA-256 "
            f"{one.test_set_sha256[:16]}."
        )
    timed = [one for one in results.speeds if one.variant in chosen]
    if speed := first(timed, device="cpu"):
        notes.append(
            f"Times and memory: {speed.examples} examples of {speed.given_tokens:.0f} tokens in the mean, "
            f"{speed.new_tokens} new ones each, greedily, medians of {len(speed.seconds)} rounds; "
            f"memory is what loading and generating added; {speed.hardware}."
        )
    if speed := first(timed, device="cuda"):
        notes.append(
            f"On a GPU: the same examples, one after another, in {speed.precision}, on {speed.hardware}; int8 "
            "variants are for processors."
        )
    return notes
