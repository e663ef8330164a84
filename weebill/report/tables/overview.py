"""Tables of all variants with intervals and signatures, and of the heads and neurons that pruning left."""

from weebill.evaluation.measurement import Measurement, Variant
from weebill.evaluation.size.translation_size import MIB
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, delta, fixed, three_digits


def variants_table(results: Results) -> Table:
    """Return a row for every variant and test set: BLEU and chrF with intervals, significance, size."""
    columns = (
        Column("variant", "Variant", numeric=False),
        Column("test_set", "Test set", numeric=False),
        Column("bleu", "BLEU", deltas=True),
        Column("bleu_low", "BLEU, 95 %", "from"),
        Column("bleu_high", "BLEU, 95 %", "to"),
        Column("bleu_p", "p (BLEU)"),
        Column("chrf", "chrF", deltas=True),
        Column("chrf_low", "chrF, 95 %", "from"),
        Column("chrf_high", "chrF, 95 %", "to"),
        Column("chrf_p", "p (chrF)"),
        Column("parameters", "Parameters"),
        Column("size_mib", "MiB", deltas=True),
        Column("xz_mib", "xz MiB"),
    )
    rows = [
        _variant_row(results, variant, test_set)
        for variant in lookup.variants(results)
        for test_set in lookup.test_sets(results)
    ]
    signatures = sorted({f"{m.metric}: {m.signature}" for m in results.qualities})
    hashes = {m.test_set: (m.sentences, m.test_set_sha256) for m in results.qualities}
    notes = [
        "In brackets: against the student's unpruned float32 model; p: of that difference, by paired "
        "bootstrap resampling. Intervals: bootstrap, 95 %. The teacher's row is its whole ensemble.",
        *(f"Signature of {signature}" for signature in signatures),
        *(f"Test set {n}: {c:,} sentences, SHA-256 {h}" for n, (c, h) in sorted(hashes.items())),
    ]
    return Table(
        "variants",
        "All variants: quality and size",
        "Every model of the experiment on every test set, scored by sacreBLEU on detokenised, cased text.",
        columns,
        tuple(rows),
        tuple(notes),
    )


def _variant_row(results: Results, variant: Variant, test_set: str) -> Row:
    size, base = results.size(variant), results.size(variant.baseline)
    bleu, bleu_base = (
        lookup.measurement(results, v, test_set, "BLEU") for v in (variant, variant.baseline)
    )
    chrf, chrf_base = (
        lookup.measurement(results, v, test_set, "chrF") for v in (variant, variant.baseline)
    )
    is_base = variant == variant.baseline
    mib = three_digits(size.parameter_bytes / MIB)
    base_mib = three_digits(base.parameter_bytes / MIB) if base and not is_base else ""
    cells = [Cell(str(variant)), Cell(test_set)]
    for row, baseline in ((bleu, bleu_base), (chrf, chrf_base)):
        cells += _score_cells(row, None if is_base else baseline)
    cells += [
        Cell(str(size.parameters)),
        Cell(mib, delta(mib, base_mib, "ratio")),
        Cell(three_digits(size.xz_bytes / MIB)),
    ]
    return Row(tuple(cells), "baseline" if is_base else "plain")


def _score_cells(row: Measurement | None, baseline: Measurement | None) -> list[Cell]:
    if row is None:
        return [Cell()] * 4
    text = fixed(row.score, 2)
    base = fixed(baseline.score, 2) if baseline else ""
    return [
        Cell(text, delta(text, base, "difference")),
        Cell(fixed(row.low, 2)),
        Cell(fixed(row.high, 2)),
        Cell(fixed(row.p_value, 3)),
    ]


def heads_table(results: Results) -> Table:
    """Return the encoder heads and feed-forward widths left in each layer, of each student and recipe."""
    shown = [v for v in lookup.students(results) if v.precision == "float32"]
    shown = [v for v in shown if results.size(v).architecture]
    layers = max((len(results.size(v).architecture["encoder"]) for v in shown), default=0)
    columns = [Column("variant", "Variant", numeric=False)]
    for key, group in (("heads", "Encoder heads"), ("feed_forward", "Encoder feed-forward width")):
        columns += [Column(f"{key}_{i + 1}", group, str(i + 1)) for i in range(layers)]
        if key == "heads":
            columns.append(Column("heads", "Heads", deltas=True))
    rows = []
    for variant in shown:
        encoder = results.size(variant).architecture["encoder"]
        base = results.size(variant.baseline)
        total = str(sum(layer["heads"] for layer in encoder))
        full = ""
        if base and base.architecture and variant != variant.baseline:
            full = str(sum(layer["heads"] for layer in base.architecture["encoder"]))
        padding = [Cell()] * (layers - len(encoder))
        rows.append(
            Row(
                (
                    Cell(f"{variant.student}/{variant.recipe}"),
                    *(Cell(str(layer["heads"])) for layer in encoder),
                    *padding,
                    Cell(total, delta(total, full, "difference")),
                    *(Cell(str(layer["feed_forward"])) for layer in encoder),
                    *padding,
                ),
                "baseline" if variant == variant.baseline else "plain",
            )
        )
    return Table(
        "heads",
        "What pruning left: heads and neurons of each encoder layer",
        "Attention heads and feed-forward neurons that stand in each encoder layer, first layer first, "
        "read from the models' own shapes.",
        tuple(columns),
        tuple(rows),
        ("In brackets: heads removed in all.",),
    )
