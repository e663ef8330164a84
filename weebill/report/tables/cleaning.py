"""Tables of the cleaning: rows lost to each filter, injected damage found, examples of lost rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from weebill.corpus.cleaning.losses import great_losses
from weebill.corpus.report import CorpusReport, damage_found, waterfall
from weebill.report.table import Column, Row, Table, fixed

SHOWN_CHARACTERS = 100


def cleaning_tables(
    reports: Sequence[CorpusReport], languages: Mapping[str, str] | None = None
) -> list[Table]:
    """Return the tables `cleaning`, `cleaning_damage` (empty if no corpus is labelled) and `cleaning_examples`.

    languages: codes by side, which are shown with the language filters.
    """
    names = {
        f"language_{side}": f"language_{side} ({code})" for side, code in (languages or {}).items()
    }
    losses = [f"{r.name}: {line}." for r in reports for line in great_losses(r.dropped, r.rows)]
    filters = Table(
        "cleaning",
        "Cleaning: rows by filter",
        "Filters in the order in which they are applied; a row counts for the first that rejects it.",
        (
            *Column.texts(corpus="Corpus", filter="Filter"),
            Column("dropped", "Dropped"),
            Column("left", "Left"),
            Column("kept_percent", "Kept, %"),
            Column("damaged_percent", "Damaged among dropped, %"),
        ),
        [one for report in reports for one in _filter_rows(report, names)],
        (
            *losses,
            "Kept: of the rows that the filter saw. Damaged: known of corpora that were damaged on purpose, whose "
            "rows carry labels of it.",
        ),
    )
    damage = Table(
        "cleaning_damage",
        "Cleaning: damage found",
        "How much of the damage done to corpora on purpose the cleaning found, by kind.",
        (
            *Column.texts(corpus="Corpus", damage="Damage"),
            Column("rows", "Rows"),
            Column("found", "Found"),
            Column("recall_percent", "Recall, %"),
            Column("precision_percent", "Precision, %"),
            *Column.texts(found_by="Found by"),
        ),
        [_damage_row(report, kind) for report in reports for kind in damage_found(report)],
        (
            "Recall: found among all rows of the kind. Precision: found rows of the kind among these "
            "and the undamaged rows that were dropped. Rows dropped because they are in a test set are not "
            "counted.",
        ),
    )
    examples = Table(
        "cleaning_examples",
        "Cleaning: examples of dropped rows",
        f"Ten rows at random of those that each filter dropped, at most {SHOWN_CHARACTERS} characters of each side.",
        (
            *Column.texts(corpus="Corpus", filter="Filter"),
            Column("row", "Row"),
            *Column.texts(source="Source", target="Target", damage="Damage"),
        ),
        [
            Row.of(
                (report.name, name, str(number), _shorten(source), _shorten(target), damage or "")
            )
            for report in reports
            for name, examples in report.examples.items()
            for number, source, target, damage in examples
        ],
    )
    return [filters, damage, examples]


def _filter_rows(report: CorpusReport, names: Mapping[str, str]) -> list[Row]:
    rows = [Row.of((report.name, "rows in", "", str(report.rows), "", ""), baseline=True)]
    for step in waterfall(report):
        counts = str(step["dropped"]), str(step["rows_after"])
        kept, name = step["rows_after"] / step["rows_before"], step["filter"]
        shares = _percent(kept), _percent(step["precision"])
        rows.append(Row.of((report.name, names.get(name, name), *counts, *shares)))
    share = _percent(report.kept / report.rows if report.rows else None)
    return [*rows, Row.of((report.name, "kept", "", str(report.kept), share, ""))]


def _damage_row(report: CorpusReport, kind: Mapping[str, Any]) -> Row:
    counts = str(kind["rows"]), str(kind["found"])
    shares = _percent(kind["recall"]), _percent(kind["precision"])
    by = ", ".join(f"{name} {count}" for name, count in kind["by"].items())
    return Row.of((report.name, kind["noise"], *counts, *shares, by))


def _percent(share: float | None) -> str:
    return "" if share is None else fixed(100 * share, 1)


def _shorten(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"
