"""Tables of all variants: quality and size, heads and neurons after pruning, cost of a lexical shortlist."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weebill.evaluation.measurement import Variant
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, fixed, score_cells, three_digits
from weebill.report.tables.comparisons import RESAMPLED

if TYPE_CHECKING:
    from weebill.evaluation.quality.shortlist import ShortlistMeasurement

METRICS = ("BLEU", "chrF", "COMET")


def variants_table(results: Results) -> Table:
    """Return a row for every variant and test set: scores with intervals, significance, size."""
    measured = {m.metric for m in results.qualities}
    metrics = [name for name in METRICS if name in measured]
    signatures = sorted({f"{m.metric}: {m.signature}" for m in results.qualities})
    hashes = {m.test_set: (m.sentences, m.test_set_sha256) for m in results.qualities}
    return Table(
        "variants",
        "All variants: quality and size",
        "Every model of the experiment on every test set; BLEU and chrF by sacreBLEU on detokenised, cased text.",
        [
            *Column.texts(variant="Variant", test_set="Test set"),
            *(column for name in metrics for column in Column.scored(name.lower(), name)),
            Column("parameters", "Parameters"),
            Column("size_mib", "MiB", deltas=True),
            Column("xz_mib", "xz MiB"),
        ],
        [
            _variant_row(results, variant, test_set, metrics)
            for variant in lookup.variants(results)
            for test_set in results.config["test_sets"]
        ],
        [
            "In brackets: against the student's unpruned float32 model; p: of that difference, "
            f"{RESAMPLED} Intervals: bootstrap, 95 %. The teacher's row is its whole ensemble.",
            *(["COMET is shown times 100; its p is two-sided."] if "COMET" in metrics else []),
            *(f"Signature of {signature}" for signature in signatures),
            *(
                f"Test set {n}: {c:,} sentences, SHA-256 {h}"
                for n, (c, h) in sorted(hashes.items())
            ),
        ],
    )


def _variant_row(results: Results, variant: Variant, test_set: str, metrics: Sequence[str]) -> Row:
    is_base = variant == variant.baseline
    cells = [str(variant), test_set]
    for metric in metrics:
        one = lookup.measurement(results, variant, test_set, metric)
        base = lookup.measurement(results, variant.baseline, test_set, metric)
        base_score = base.score if base and not is_base else None
        cells += score_cells(one, one.score, base_score) if one else [""] * 4
    size, base = results.size(variant), "" if is_base else results.mebibytes(variant.baseline)
    cells += [
        str(size.parameters),
        Cell.compared(results.mebibytes(variant), base, "ratio"),
        three_digits(size.xz_mib),
    ]
    return Row.of(cells, baseline=is_base)


def heads_table(results: Results) -> Table:
    """Return the remaining encoder heads and feed-forward widths of each layer, for each student and recipe."""
    encoders = lookup.encoders(results)
    layers = max(map(len, encoders.values()), default=0)
    columns = [Column("variant", "Variant", numeric=False)]
    for key, group in (("heads", "Encoder heads"), ("feed_forward", "Encoder feed-forward width")):
        columns += [Column(f"{key}_{i + 1}", group, str(i + 1)) for i in range(layers)]
        if key == "heads":
            columns.append(Column("heads", "Heads", deltas=True))
    heads = {v: str(sum(layer["heads"] for layer in e)) for v, e in encoders.items()}
    rows = []
    for variant, encoder in encoders.items():
        padding = [""] * (layers - len(encoder))
        is_base = variant == variant.baseline
        base = "" if is_base else heads.get(variant.baseline, "")
        cells = [f"{variant.student}/{variant.recipe}", *(str(one["heads"]) for one in encoder)]
        cells += [*padding, Cell.compared(heads[variant], base, "difference")]
        rows.append(
            Row.of([*cells, *(str(one["feed_forward"]) for one in encoder), *padding], is_base)
        )
    return Table(
        "heads",
        "What pruning left: heads and neurons of each encoder layer",
        "Attention heads and feed-forward neurons of each encoder layer, the first layer first, "
        "read from the models' own shapes.",
        columns,
        rows,
        ("In brackets: number of removed heads.",),
    )


def shortlist_table(results: Results) -> Table:
    """Return a row for every variant and test set: coverage and columns, and BLEU with and without the shortlist."""
    measurements = results.shortlists
    columns = Column.texts(variant="Variant", test_set="Test set")
    for key, title in (
        ("columns", "Columns"),
        ("reference", "Pieces of the reference, %"),
        ("own", "Pieces of its own translation, %"),
    ):
        columns += Column.grouped(title, **{key: "a sentence", f"{key}_batch": "a batch"})
    columns += [Column("unchanged", "Same translation, %"), *Column.scored("bleu", "BLEU")]
    files = sorted({(one.vocabulary, one.bytes, one.shortlist_sha256) for one in measurements})
    sizes = sorted({one.batched.batch_size for one in measurements})
    notes = [
        "Columns: pieces that may stand in a translation. Covered are the pieces that are among them, of the "
        "reference and of the translation that the same model makes with the whole vocabulary; a batch, of "
        f"{' or '.join(map(str, sizes))} sentences of like length, shares its columns.",
        "In brackets: against the same model with the whole vocabulary; p: of that difference, "
        f"{RESAMPLED} Intervals: bootstrap, 95 %.",
        *(
            f"Shortlist of {pieces:,} pieces: {size:,} bytes, SHA-256 {digest}"
            for pieces, size, digest in files
        ),
        *sorted({f"Signature of BLEU: {one.signature}" for one in measurements}),
    ]
    return Table(
        "shortlist",
        "Lexical shortlist: coverage and cost",
        "Students that choose among the pieces of a lexical shortlist, made from the distilled corpus by word "
        "alignment, instead of the whole vocabulary.",
        columns,
        list(map(_shortlist_row, measurements)),
        notes,
    )


def _shortlist_row(one: "ShortlistMeasurement") -> Row:
    both = (one.single, one.batched)
    cells = [one.variant, one.test_set, *(fixed(coverage.columns, 0) for coverage in both)]
    cells += [fixed(100 * coverage.reference, 2) for coverage in both]
    cells += [fixed(100 * coverage.own, 2) for coverage in both]
    cells.append(fixed(100 * one.unchanged, 1))
    return Row.of([*cells, *score_cells(one, one.bleu, one.bleu_without)])
