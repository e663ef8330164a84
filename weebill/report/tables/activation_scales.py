"""Table of the formulas for static activation scales: the error of numbers and translations with each."""

from collections.abc import Container, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from weebill.evaluation.measurement import Measurement, Variant
from weebill.experiment.precisions import Precision, quantized
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, fixed, three_digits

if TYPE_CHECKING:
    from weebill.quantization.calibration import ActivationError

METRICS = ("BLEU", "chrF")


def read_scale_errors(paths: Sequence[str]) -> "list[tuple[str, list[ActivationError]]]":
    """Read the errors of activation scales from files …/STUDENT/RECIPE.json."""
    from weebill.quantization.calibration import load_errors  # loads torch

    return [("/".join(Path(path).with_suffix("").parts[-2:]), load_errors(path)) for path in paths]


def activation_scales_table(results: Results) -> Table:
    """Return a row for each precision without fine-tuning, in measured order, below its float32 model."""
    errors = dict(results.scale_errors)
    made = quantized(results.config["quantization"])
    measurements = [
        one
        for one in results.qualities
        if one.metric in METRICS and _is_compared(one, made, errors)
    ]
    scores = {(m.variant, m.test_set, m.metric): m.score for m in measurements}
    columns = [
        *Column.texts(variant="Variant", activation_scale="Activation scale"),
        *Column.grouped(
            "Squared error of inputs, %", encoder_error="encoder", decoder_error="decoder, output"
        ),
        Column("largest_error", "Largest, %"),
        *Column.texts(largest_map="of"),
        Column("clipped", "Clipped, %"),
    ]
    places = list(product(dict.fromkeys(m.test_set for m in measurements), METRICS))
    columns += [
        Column(f"{metric.lower()}_{name}", name, metric, deltas=True) for name, metric in places
    ]
    rows = []
    for name in dict.fromkeys(m.variant for m in measurements):
        variant = Variant.parse(name)
        source = f"{variant.student}/{variant.recipe}"
        quantization = made.get(variant.precision)
        formula = (quantization and quantization.activation_scale) or ""
        found = [e for e in errors[source] if e.activation_scale == formula]
        cells = [name, formula, *_error_cells(found)]
        for place in places:
            text = fixed(scores.get((name, *place)), 2)
            base = fixed(scores.get((f"{source}/float32", *place)), 2)
            cells.append(Cell.compared(text, base if formula else "", "difference"))
        rows.append(Row.of(cells, baseline=not formula))
    return Table(
        "activation_scales",
        "Formulas of the activation scales",
        "8-bit students, not fine-tuned, by the formula of their static activation scales: the mean of 127 / maximum "
        "plus 1.1 deviations (mean-of-scales, as the papers print it), or 127 / the mean maximum plus 1.1 deviations "
        "(mean-of-maxima, as the published script computes it).",
        columns,
        rows,
        (
            "Squared error of inputs: error of the quantized inputs of each linear map on test sentences, as a share "
            "of their sum of squares in float32; the mean over the maps, and the largest. Clipped: share of all "
            "inputs that are beyond the largest code.",
            "In brackets: against the float32 model that was quantized.",
            *sorted({f"Signature of {m.metric}: {m.signature}" for m in measurements}),
        ),
    )


def _is_compared(one: Measurement, made: Mapping[str, Precision], errors: Container[str]) -> bool:
    """Return True for a student without fine-tuning that has static scales, and for its float32 model."""
    quantization = made.get(one.precision)
    static = quantization and quantization.activation_scale and not quantization.finetuned
    compared = one.precision == "float32" or static
    return bool(compared) and f"{one.student}/{one.recipe}" in errors


def _error_cells(errors: "Sequence[ActivationError]") -> list[str]:
    if not errors:
        return [""] * 5
    inside = [e.relative for e in errors if e.map.startswith("encoder.")]
    others = [e.relative for e in errors if not e.map.startswith("encoder.")]
    largest = max(errors, key=lambda e: e.relative)
    clipped = sum(e.clipped for e in errors) / sum(e.values for e in errors)
    return [
        *(three_digits(100 * fmean(one)) if one else "" for one in (inside, others)),
        three_digits(100 * largest.relative),
        largest.map,
        fixed(100 * clipped, 4),
    ]
