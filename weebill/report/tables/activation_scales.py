"""Table of the formulas of static activation scales: the error of numbers and translations under each."""

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from weebill.evaluation.measurement import Variant
from weebill.experiment.precisions import quantized
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, delta, fixed, three_digits

if TYPE_CHECKING:
    from weebill.quantization.activation_error import ActivationError

METRICS = ("BLEU", "chrF")


def activation_scales_table(results: Results) -> Table:
    """Return the table: a row for each precision without fine-tuning, in measured order, below its float32 model."""
    measurements, errors = results.scales, dict(results.scale_errors)
    made = quantized(results.config["quantization"])
    scores = {(m.variant, m.test_set, m.metric): m.score for m in measurements}
    test_sets = list(dict.fromkeys(m.test_set for m in measurements))
    columns = [
        Column("variant", "Variant", numeric=False),
        Column("activation_scale", "Activation scale", numeric=False),
        Column("encoder_error", "Squared error of inputs, %", "encoder"),
        Column("decoder_error", "Squared error of inputs, %", "decoder, output"),
        Column("largest_error", "Largest, %"),
        Column("largest_map", "of", numeric=False),
        Column("clipped", "Clipped, %"),
    ]
    for test_set in test_sets:
        for metric in METRICS:
            key = f"{metric.lower()}_{test_set}"
            columns.append(Column(key, test_set, metric, deltas=True))
    rows = []
    for name in dict.fromkeys(m.variant for m in measurements):
        variant = Variant.parse(name)
        source = f"{variant.student}/{variant.recipe}"
        formula = made[variant.precision].activation_scale if variant.precision in made else ""
        found = [e for e in errors[source] if e.activation_scale == formula]
        cells = [Cell(name), Cell(formula), *_error_cells(found)]
        for test_set in test_sets:
            for metric in METRICS:
                text = fixed(scores.get((name, test_set, metric)), 2)
                base = fixed(scores.get((f"{source}/float32", test_set, metric)), 2)
                cells.append(Cell(text, delta(text, base, "difference") if formula else ""))
        rows.append(Row(tuple(cells), "plain" if formula else "baseline"))
    return Table(
        "activation_scales",
        "Formulas of the activation scales",
        "8-bit students, not fine-tuned, by the formula of their static activation scales: the mean of 127 / maximum "
        "plus 1.1 deviations (mean-of-scales, as the papers print it), or 127 / the mean maximum plus 1.1 deviations "
        "(mean-of-maxima, as the published script computes it).",
        tuple(columns),
        tuple(rows),
        (
            "Squared error of inputs: of what each linear map is given on test sentences, quantized, against "
            "the same in float32, as a share of its sum of squares; the mean over the maps, and the largest. "
            "Clipped: the share of all numbers that are beyond the largest code.",
            "In brackets: against the float32 model that was quantized.",
            *sorted({f"Signature of {m.metric}: {m.signature}" for m in measurements}),
        ),
    )


def _error_cells(errors: "Sequence[ActivationError]") -> list[Cell]:
    if not errors:
        return [Cell()] * 5
    inside = [e.relative for e in errors if e.map.startswith("encoder.")]
    others = [e.relative for e in errors if not e.map.startswith("encoder.")]
    largest = max(errors, key=lambda e: e.relative)
    clipped = sum(e.clipped for e in errors) / sum(e.values for e in errors)
    return [
        Cell(three_digits(100 * fmean(inside)) if inside else ""),
        Cell(three_digits(100 * fmean(others)) if others else ""),
        Cell(three_digits(100 * largest.relative)),
        Cell(largest.map),
        Cell(fixed(100 * clipped, 4)),
    ]
