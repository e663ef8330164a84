"""Tables 1 to 7 of TEXTGEN: models that generate text, with the steps that made them."""

from collections.abc import Sequence
from functools import partial

from weebill.experiment.pipelines import model_of, variants_of
from weebill.files import GIB
from weebill.report.lookups import generation as lookup
from weebill.report.results import Results
from weebill.report.table import Column, three_digits
from weebill.report.tables.beside_papers.comparison import (
    PAPER_FIRST,
    Line,
    PaperTable,
    Printed,
    Quantity,
)

FINE_TUNED, QUANTIZED = ("fine-tune",), ("quantization-aware", "post-training")
_PIPELINE = {
    "fine-tuned": FINE_TUNED,
    "distilled": (*FINE_TUNED, "distil"),
    "pruned": (*FINE_TUNED, "distil", "movement"),
    "quantized": (*FINE_TUNED, "distil", "movement", *QUANTIZED),
}
_STUDENT = {"teacher": FINE_TUNED, "student": (*FINE_TUNED, "distil")}
_PRUNED = {"original": FINE_TUNED, "pruned": (*FINE_TUNED, "movement")}
# Number of a table: (task, {row of the paper: steps of our variant}).
NUMBERED = {
    1: ("summarization", _STUDENT),
    2: ("language-modelling", _STUDENT),
    3: ("summarization", _PRUNED),
    4: ("language-modelling", _PRUNED),
    5: ("summarization", {"original": FINE_TUNED, "quantized": (*FINE_TUNED, *QUANTIZED)}),
    6: ("summarization", _PIPELINE),
    7: ("language-modelling", _PIPELINE),
}
SCORES = {  # task: {the paper's column: metric}
    "summarization": {f"rouge{name}": f"ROUGE-{name}" for name in ("1", "2", "L", "Lsum")},
    "language-modelling": {"perplexity": "perplexity"},
}
SLIPS = {
    1: "The paper's ROUGE-Lsum of the fine-tuned model is 0.559 in its tables 1, 3 and 5, and 0.599 in table 6.",
    7: "What the paper prints as +47.41 % of perplexity is 47.41 more: 3.60 times.",
}
SLIPS |= dict.fromkeys((3, 5, 6), SLIPS[1])
# It prints 1.51 GB for BART-large's 406.3 M float32 numbers.
GIBIBYTES = "Sizes: the paper's GB are GiB of its files; ours are of the safetensors."
COMPARABLE = (
    "The models, texts and machines are others than the paper's: what can be compared is how each step changes its "
    "own column. Our times are of one core, one example after another, at fixed lengths."
)


def _lines(results: Results, printed: list[Printed], number: int) -> list[Line]:
    """Return the table's rows, each with our variant of the same steps if a pipeline has it."""
    task, steps = NUMBERED[number]
    rows = [row for row in printed if row["table"] == str(number)]
    ours = _variants_of(results, task, [steps[row["variant"]] for row in rows])
    kinds = ["baseline", *["plain"] * len(rows)]
    return [
        Line((row["variant"], one or ""), one, row, ours[0], rows[0], kind if one else "absent")
        for row, one, kind in zip(rows, ours, kinds, strict=False)
    ]


def _variants_of(results: Results, task: str, rows: Sequence[Sequence[str]]) -> list[str | None]:
    """Return the variant for the steps of each row, all of one model: the first model with the most rows."""
    models = dict.fromkeys(map(model_of, lookup.variants_for(results.config, task)))
    found = [[variant_of(results, model, steps) for steps in rows] for model in models]
    return min(found, key=lambda ours: ours.count(None))


def variant_of(results: Results, model: str, steps: Sequence[str]) -> str | None:
    """Return a model's first variant made by these steps, in 8 bits; quantization-aware training may be missing."""
    without = [method for method in steps if method != "quantization-aware"]
    for wanted in (list(steps), without):
        for variant in variants_of(results.config, model):
            if lookup.methods(results, variant) == wanted and 4 not in lookup.bits(
                results, variant
            ):
                return variant
    return None


def _score(column: str, metric: str) -> Quantity:
    def ours(results: Results, variant: str) -> str:
        return lookup.texts(lookup.quality(results, variant, metric), metric)[0]

    return Quantity(column, metric, ours, "ratio")


def _seconds(results: Results, variant: str) -> str:
    return lookup.seconds(lookup.speed(results, variant))


def _gibibytes(results: Results, variant: str) -> str:
    size = results.size(variant)
    return three_digits(size.parameter_bytes / GIB) if size else ""


def _table(number: int) -> PaperTable:
    task, _ = NUMBERED[number]
    quantities = (
        *(_score(column, metric) for column, metric in SCORES[task].items()),
        Quantity("seconds", "Time, s", _seconds, "ratio"),
        Quantity("size_gb", "Size, GiB", _gibibytes, "ratio"),
    )
    notes = (*([SLIPS[number]] if number in SLIPS else []), GIBIBYTES, COMPARABLE)
    label = f"TEXTGEN, table {number}"
    return PaperTable(
        f"textgen_table{number}",
        "textgen_tables",
        label,
        "The paper's table, and ours beside; × against the first row.",
        Column.texts(variant="Variant", ours="Ours"),
        partial(_lines, number=number),
        lambda results: quantities,
        lambda results: notes,
        label,
        "textgen_table",
        sides=PAPER_FIRST,
        needs=("qualities", "sizes", "speeds"),
        shown=partial(lookup.has_task, task),
    )


TABLES = tuple(map(_table, NUMBERED))
