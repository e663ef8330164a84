"""Tables of the cleaning: rows lost to each filter, injected damage found, examples of lost rows."""

from collections.abc import Iterable, Sequence

from weebill.corpus.report import CorpusReport, damage_found, waterfall
from weebill.report.table import Cell, Column, Row, Table, fixed

SHOWN_CHARACTERS = 100


def cleaning_tables(reports: Sequence[CorpusReport]) -> list[Table]:
    """Return the tables `cleaning`, `cleaning_damage` (empty if no corpus is labelled) and `cleaning_examples`."""
    return [_filters(reports), _damage(reports), _examples(reports)]


def _filters(reports: Sequence[CorpusReport]) -> Table:
    rows = []
    for report in reports:
        rows.append(_row((report.name, "rows in", "", report.rows, ""), "baseline"))
        for step in waterfall(report):
            counts = step["filter"], step["dropped"], step["rows_after"]
            rows.append(_row((report.name, *counts, _percent(step["precision"]))))
        rows.append(_row((report.name, "kept", "", report.kept, "")))
    return Table(
        "cleaning",
        "Cleaning: rows by filter",
        "Filters in the order in which they are applied; a row counts for the first that rejects it.",
        (
            Column("corpus", "Corpus", numeric=False),
            Column("filter", "Filter", numeric=False),
            Column("dropped", "Dropped"),
            Column("left", "Left"),
            Column("damaged_percent", "Damaged among dropped, %"),
        ),
        tuple(rows),
        ("Damaged: known of corpora that were damaged on purpose, whose rows carry labels of it.",),
    )


def _damage(reports: Sequence[CorpusReport]) -> Table:
    rows = []
    for report in reports:
        for kind in damage_found(report):
            by = ", ".join(f"{name} {count}" for name, count in kind["by"].items())
            found = kind["noise"], kind["rows"], kind["found"]
            shares = _percent(kind["recall"]), _percent(kind["precision"])
            rows.append(_row((report.name, *found, *shares, by)))
    return Table(
        "cleaning_damage",
        "Cleaning: damage found",
        "How much of the damage done to corpora on purpose the cleaning found, by kind.",
        (
            Column("corpus", "Corpus", numeric=False),
            Column("damage", "Damage", numeric=False),
            Column("rows", "Rows"),
            Column("found", "Found"),
            Column("recall_percent", "Recall, %"),
            Column("precision_percent", "Precision, %"),
            Column("found_by", "Found by", numeric=False),
        ),
        tuple(rows),
        (
            "Recall: found among all rows of the kind. Precision: found rows of the kind among these "
            "and the undamaged rows that were dropped. Rows dropped because they stand in a test set "
            "count neither way.",
        ),
    )


def _examples(reports: Sequence[CorpusReport]) -> Table:
    rows = [
        _row((report.name, name, number, _shorten(source), _shorten(target), damage or ""))
        for report in reports
        for name, examples in report.examples.items()
        for number, source, target, damage in examples
    ]
    return Table(
        "cleaning_examples",
        "Cleaning: examples of dropped rows",
        f"Ten rows at random of those that each filter dropped, at most {SHOWN_CHARACTERS} characters of each side.",
        (
            Column("corpus", "Corpus", numeric=False),
            Column("filter", "Filter", numeric=False),
            Column("row", "Row"),
            Column("source", "Source", numeric=False),
            Column("target", "Target", numeric=False),
            Column("damage", "Damage", numeric=False),
        ),
        tuple(rows),
    )


def _row(values: Iterable[object], kind="plain") -> Row:
    return Row(tuple(Cell(str(value)) for value in values), kind)


def _percent(share: float | None) -> str:
    return "" if share is None else fixed(100 * share, 1)


def _shorten(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"
