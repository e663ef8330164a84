"""Rows of Parquet and JSON files, by the values of some of their fields."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from weebill.corpus.importers.reading import TextFile, lines
from weebill.errors import InputError
from weebill.text_files import LONGEST_RECORD, Omitted
from weebill_runtime.json_text import parse_json

TABLE = ".parquet"
# Many files named .json contain JSON Lines.
JSON_LINES = tuple(
    f"{kind}{packed}"
    for kind in (".jsonl", ".ndjson", ".json")
    for packed in ("", ".gz", ".xz", ".zst")
)


def field_values(path: Path, fields: list[str], place: str | None = None) -> Iterator[list[Any]]:
    """Yield the values of some fields in each row of a Parquet or JSON file; None for a missing field.

    A JSON file has one row per line, or is one list of rows.
    place: origin of the file, whose suffix decides the format; `path` by default.
    Raises InputError that names file and line if the text is not JSON.
    """
    table = (place or str(path)).endswith(TABLE)
    for row in _parquet(path, fields) if table else _json(path):
        yield [_value(row, field) for field in fields]


def _parquet(path: Path, fields: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows with the columns that hold some fields; memory holds at most 8,192 rows."""
    from weebill.corpus.table import read_batches, read_schema  # loads Arrow

    names = read_schema(path).names
    columns = list(dict.fromkeys(f if f in names else f.split(".")[0] for f in fields))
    for batch in read_batches(path, columns, kept=False, rows=8192):
        yield from batch.to_pylist()


def _json(path: Path) -> Iterator[Any]:
    empty = 0  # number of the last empty line, which may only be followed by others
    for number, line in enumerate(found := lines(TextFile(path), LONGEST_RECORD), start=1):
        if isinstance(line, Omitted):
            raise line.refusal()
        if number == 1 and line.lstrip().startswith("["):
            yield from _json_list(path, "\n".join([line, *found]))
            return
        if not line.strip():
            empty = number
            continue
        if empty:
            raise InputError(
                f"{path}:{empty}: empty, expected one object in a line; remove the line"
            )
        try:
            yield parse_json(line)
        except ValueError as error:
            message = f"{path}:{number}: not JSON ({error}); a line holds one object"
            raise InputError(message) from error


def _json_list(path: Path, text: str) -> list[Any]:
    """Return the rows of a file that is one list."""
    try:
        return parse_json(text)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        message = f"{path}:{line}: not a list in JSON ({error}); fetch the file again"
        raise InputError(message) from error


def _value(row: Any, field: str) -> Any:
    if isinstance(row, dict) and field in row:  # its name has a dot, as in flattened rows
        return row[field]
    for key in field.split("."):
        row = row.get(key) if isinstance(row, dict) else None
    return row
