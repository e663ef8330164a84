"""Table of the students' speeds on a GPU, in every setting."""

from weebill.evaluation.measurement import Variant, versions_line
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, delta, fixed


def gpu_table(results: Results) -> Table:
    """Return words per second on a GPU, of each student in every kind of numbers and batch size."""
    columns = (
        Column("variant", "Variant", numeric=False),
        Column("numbers", "Numbers", numeric=False),
        Column("shortlist", "Shortlist", numeric=False),
        Column("batch", "Batch"),
        Column("wps", "Words/s", "median", deltas=True),
        Column("wps_slowest", "Words/s", "slowest"),
        Column("wps_fastest", "Words/s", "fastest"),
    )
    speeds = results.gpu_speeds
    bases = {
        (row.variant, row.batch_size): fixed(row.words_per_second, 0)
        for row in speeds
        if row.numbers == "float32" and not row.shortlist
    }
    rows = []
    for row in speeds:
        text, baseline = fixed(row.words_per_second, 0), str(Variant.parse(row.variant).baseline)
        is_base = (row.variant, row.numbers, row.shortlist) == (baseline, "float32", False)
        base = "" if is_base else bases.get((baseline, row.batch_size), "")
        cells = (
            Cell(row.variant),
            Cell(row.numbers),
            Cell("yes" if row.shortlist else "no"),
            Cell(str(row.batch_size)),
            Cell(text, delta(text, base, "ratio")),
            Cell(fixed(row.words / max(row.seconds), 0)),
            Cell(fixed(row.words / min(row.seconds), 0)),
        )
        rows.append(Row(cells, "baseline" if is_base else "plain"))
    notes = ["In brackets: against the student's unpruned model in float32 without a shortlist."]
    if speeds:
        first = speeds[0]
        notes.append(
            f"{first.words:,} source words in {first.sentences:,} sentences; {len(first.seconds)} interleaved "
            f"rounds; {first.hardware}; {versions_line(first.versions)}."
        )
    return Table(
        "gpu",
        "All students: GPU speed",
        "Source words translated per second on a GPU by mini-batch size. Loading is not counted.",
        columns,
        tuple(rows),
        tuple(notes),
    )
