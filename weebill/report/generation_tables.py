"""Tables of models that generate text: all variants, and TEXTGEN's tables 1 to 7 with ours beside."""

from collections.abc import Sequence

from weebill.evaluation.quality.rouge import METRICS
from weebill.evaluation.size.generation_size import GIB
from weebill.experiment.pipelines import model_of, variants_of
from weebill.report import papers
from weebill.report.generation_results import GenerationResults
from weebill.report.table import Cell, Column, Row, Table, delta, fixed, three_digits

MIB = 2**20
SCORES = {"summarization": list(METRICS), "language-modelling": ["perplexity", "bits per byte"]}
TITLES = {"summarization": "Summaries", "language-modelling": "Running text"}
# Number of a paper's table: (task, {its rows: the steps that ours have been through}).
FINE_TUNED, QUANTIZED = ("fine-tune",), ("quantization-aware", "post-training")
_PIPELINE = {
    "fine-tuned": FINE_TUNED,
    "distilled": (*FINE_TUNED, "distil"),
    "pruned": (*FINE_TUNED, "distil", "movement"),
    "quantized": (*FINE_TUNED, "distil", "movement", *QUANTIZED),
}
_STUDENT = {"teacher": FINE_TUNED, "student": (*FINE_TUNED, "distil")}
_PRUNED = {"original": FINE_TUNED, "pruned": (*FINE_TUNED, "movement")}
PAPER_TABLES = {
    1: ("summarization", _STUDENT),
    2: ("language-modelling", _STUDENT),
    3: ("summarization", _PRUNED),
    4: ("language-modelling", _PRUNED),
    5: ("summarization", {"original": FINE_TUNED, "quantized": (*FINE_TUNED, *QUANTIZED)}),
    6: ("summarization", _PIPELINE),
    7: ("language-modelling", _PIPELINE),
}
PRINTED = {
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougeL": "ROUGE-L",
    "rougeLsum": "ROUGE-Lsum",
    "perplexity": "perplexity",
}
SLIPS = {
    1: "The paper's ROUGE-Lsum of the fine-tuned model is 0.559 in its tables 1, 3 and 5, and 0.599 in table 6.",
    7: "What the paper prints as +47.41 % of perplexity is 47.41 more: 3.60 times.",
}
SLIPS |= dict.fromkeys((3, 5, 6), SLIPS[1])
GIBIBYTES = "Sizes: the paper's GB are GiB of its files; ours are of the safetensors."
LEAD = "`lead`: what the articles begin with, as long as a summary may be: a summary that needs no model."
PIECES = "Perplexity is per token: no × across a pruning of the vocabulary; compare bits per byte."
COMPARABLE = (
    "The models, texts and machines are others than the paper's: what can be compared is how each step changes its "
    "own column. Our times are of one core, one example after another, at fixed lengths."
)


def variants_table(results: GenerationResults, task: str) -> Table:
    """Every variant of the models for a task: its scores with intervals, bytes, time and memory."""
    scores = SCORES[task]
    columns = [Column("variant", "Variant", numeric=False)]
    for name in scores:
        key = name.lower().replace(" ", "_").replace("-", "_")
        columns += [
            Column(key, name, "", deltas=True),
            Column(f"{key}_low", name, "from"),
            Column(f"{key}_high", name, "to"),
        ]
    columns += [
        Column("mib", "MiB", deltas=True),
        Column("seconds", "s an example", deltas=True),
        Column("milliseconds", "ms a token"),
        Column("peak_mib", "Memory, MiB", deltas=True),
    ]
    leads = dict.fromkeys(one.variant for one in results.leads_for(scores))
    rows = [Row(tuple(_cells(results, lead, scores)), "plain") for lead in leads]
    for variant in results.variants_for(task):
        cells = _cells(results, variant, scores)
        base = _cells(results, results.baseline(variant), scores)
        if variant != results.baseline(variant):
            cells = [
                Cell(cell.text, delta(cell.text, other.text, "ratio"))
                if column.deltas and results.comparable(variant, column.key)
                else cell
                for cell, other, column in zip(cells, base, columns, strict=True)
            ]
        rows.append(
            Row(tuple(cells), "baseline" if variant == results.baseline(variant) else "plain")
        )
    return Table(
        f"generation_{task.replace('-', '_')}",
        TITLES[task],
        "Every variant by the steps that made it, with 95 % bootstrap intervals; × against the model's first.",
        tuple(columns),
        tuple(rows),
        tuple(_notes(results, task)),
    )


def _cells(results: GenerationResults, variant: str, scores: Sequence[str]) -> list[Cell]:
    cells = [Cell(variant)]
    for name in scores:
        one = results.quality(variant, name)
        decimals = 2 if name == "perplexity" else 3
        shown = (one.score, one.low, one.high) if one else (None,) * 3
        cells += [Cell(fixed(value, decimals)) for value in shown]
    size, speed = results.size(variant), results.speed(variant)
    return [
        *cells,
        Cell(three_digits(size.parameter_bytes / MIB) if size else ""),
        Cell(three_digits(speed.seconds_per_example) if speed else ""),
        Cell(three_digits(speed.milliseconds_per_token) if speed else ""),
        Cell(three_digits(speed.peak_mib - speed.idle_mib) if speed else ""),
    ]


def _notes(results: GenerationResults, task: str) -> list[str]:
    chosen = set(results.variants_for(task))
    leads = results.leads_for(SCORES[task])
    measured = [*(one for one in results.qualities if one.variant in chosen), *leads]
    notes = [LEAD] if leads else []
    if not all(results.comparable(variant, name) for variant in chosen for name in SCORES[task]):
        notes.append(PIECES)
    for signature in dict.fromkeys(one.signature for one in measured):
        first = next(one for one in measured if one.signature == signature)
        scored = "" if first.tokens is None else f", {first.tokens:,} tokens"
        notes.append(
            f"`{signature}`: {first.examples:,} "
            f"{'summaries' if first.tokens is None else 'windows'}{scored} of {first.data}, SHA-256 "
            f"{first.test_set_sha256[:16]}."
        )
    for speed in results.speeds:
        if speed.variant in chosen:
            notes.append(
                f"Times and memory: {speed.examples} examples of {speed.given_tokens:.0f} tokens in the mean, "
                f"{speed.new_tokens} new ones each, greedily, medians of {len(speed.seconds)} rounds; "
                f"memory is what loading and generating added; {speed.hardware}."
            )
            break
    return notes


def paper_table(results: GenerationResults, number: int) -> Table:
    """Table 1 to 7 of TEXTGEN; ours beside, where a pipeline went through the same steps."""
    task, steps = PAPER_TABLES[number]
    printed = papers.load("textgen_tables")
    printed = printed[printed["table"] == str(number)]
    metrics = [
        name for name in PRINTED if name in printed.columns and printed[name].str.len().any()
    ]
    columns = [Column("variant", "Variant", numeric=False), Column("ours", "Ours", numeric=False)]
    for name in metrics:
        columns += [
            Column(name, PRINTED[name], "paper", deltas=True),
            Column(f"{name}_ours", PRINTED[name], "ours", deltas=True),
        ]
    for key, title in (("seconds", "Time, s"), ("size_gb", "Size, GiB")):
        columns += [
            Column(key, title, "paper", deltas=True),
            Column(f"{key}_ours", title, "ours", deltas=True),
        ]
    lines = []
    records = printed.to_dict("records")
    variants = _variants_of(results, task, [steps[line["variant"]] for line in records])
    for line, ours in zip(records, variants, strict=True):
        cells = [Cell(line["variant"]), Cell(ours or "")]
        for name in metrics:
            one = results.quality(ours, PRINTED[name]) if ours else None
            cells += [
                Cell(line[name]),
                Cell(fixed(one.score if one else None, 2 if name == "perplexity" else 3)),
            ]
        speed, size = (results.speed(ours), results.size(ours)) if ours else (None, None)
        cells += [
            Cell(line["seconds"]),
            Cell(three_digits(speed.seconds_per_example) if speed else ""),
            Cell(line["size_gb"]),
            Cell(fixed(size.parameter_bytes / GIB, 4) if size else ""),
        ]
        lines.append((cells, ours))
    first = lines[0][0]
    rows = []
    for index, (cells, ours) in enumerate(lines):
        if index:
            cells = [
                Cell(cell.text, delta(cell.text, other.text, "ratio")) if column.deltas else cell
                for cell, other, column in zip(cells, first, columns, strict=True)
            ]
        rows.append(Row(tuple(cells), ("plain" if index else "baseline") if ours else "absent"))
    return Table(
        f"textgen_table{number}",
        f"TEXTGEN, table {number}",
        "The paper's table, and ours beside; × against the first row.",
        tuple(columns),
        tuple(rows),
        (*([SLIPS[number]] if number in SLIPS else []), GIBIBYTES, COMPARABLE),
    )


def _variants_of(
    results: GenerationResults, task: str, rows: Sequence[Sequence[str]]
) -> list[str | None]:
    """The variant for the steps of each row, all of one model: of the first that has most of them."""
    models = dict.fromkeys(map(model_of, results.variants_for(task)))
    found = [[_variant_of(results, model, steps) for steps in rows] for model in models]
    return min(found, key=lambda ours: ours.count(None))


def _variant_of(results: GenerationResults, model: str, steps: Sequence[str]) -> str | None:
    """The first variant of a model that has been through these steps; int8 may come without its training."""
    without = [method for method in steps if method != "quantization-aware"]
    for wanted in (list(steps), without):
        for variant in variants_of(results.config, model):
            if results.methods(variant) == wanted:
                return variant
    return None
