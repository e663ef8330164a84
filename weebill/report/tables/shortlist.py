"""Table of the lexical shortlists: their coverage and their cost in BLEU."""

from typing import TYPE_CHECKING

from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, delta, fixed

if TYPE_CHECKING:
    from weebill.evaluation.quality.shortlist import ShortlistMeasurement


def shortlist_table(results: Results) -> Table:
    """Return a row for every variant and test set: coverage and columns, and BLEU with and without the shortlist."""
    measurements = results.shortlists
    columns = (
        Column("variant", "Variant", numeric=False),
        Column("test_set", "Test set", numeric=False),
        Column("columns", "Columns", "a sentence"),
        Column("columns_batch", "Columns", "a batch"),
        Column("reference", "Pieces of the reference, %", "a sentence"),
        Column("reference_batch", "Pieces of the reference, %", "a batch"),
        Column("own", "Pieces of its own translation, %", "a sentence"),
        Column("own_batch", "Pieces of its own translation, %", "a batch"),
        Column("unchanged", "Same translation, %"),
        Column("bleu", "BLEU", deltas=True),
        Column("bleu_low", "BLEU, 95 %", "from"),
        Column("bleu_high", "BLEU, 95 %", "to"),
        Column("bleu_p", "p (BLEU)"),
    )
    rows = [Row(tuple(_cells(one))) for one in measurements]
    files = sorted({(one.vocabulary, one.bytes, one.shortlist_sha256) for one in measurements})
    sizes = sorted({one.batched.batch_size for one in measurements})
    notes = [
        "Columns: pieces that may stand in a translation. Covered are the pieces that are among them, of the "
        "reference and of the translation that the same model makes with the whole vocabulary; a batch, of "
        f"{' or '.join(map(str, sizes))} sentences of like length, shares its columns.",
        "In brackets: against the same model with the whole vocabulary; p: of that difference, by paired "
        "bootstrap resampling. Intervals: bootstrap, 95 %.",
        *(
            f"Shortlist of {pieces:,} pieces: {size:,} bytes, SHA-256 {digest}"
            for pieces, size, digest in files
        ),
        *(
            f"Signature of BLEU: {signature}"
            for signature in sorted({m.signature for m in measurements})
        ),
    ]
    return Table(
        "shortlist",
        "Lexical shortlist: coverage and cost",
        "Students that choose among the pieces of a lexical shortlist, made from the distilled corpus by word "
        "alignment, instead of the whole vocabulary.",
        columns,
        tuple(rows),
        tuple(notes),
    )


def _cells(one: "ShortlistMeasurement") -> list[Cell]:
    bleu = fixed(one.bleu, 2)
    pairs = (
        (fixed(one.single.columns, 0), fixed(one.batched.columns, 0)),
        *(
            (fixed(100 * first, 2), fixed(100 * second, 2))
            for first, second in (
                (one.single.reference, one.batched.reference),
                (one.single.own, one.batched.own),
            )
        ),
    )
    return [
        Cell(one.variant),
        Cell(one.test_set),
        *(Cell(text) for pair in pairs for text in pair),
        Cell(fixed(100 * one.unchanged, 1)),
        Cell(bleu, delta(bleu, fixed(one.bleu_without, 2), "difference")),
        Cell(fixed(one.low, 2)),
        Cell(fixed(one.high, 2)),
        Cell(fixed(one.p_value, 3)),
    ]
