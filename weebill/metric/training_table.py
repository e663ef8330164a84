"""Training tables of regression models, with unbabel-comet's columns src, mt, ref, score; for its environment too."""

import csv
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from weebill.corpus.table import TableWriter, read_columns
from weebill.errors import InputError, nearest
from weebill.metric.judgements import (
    is_held_out,
    language_pairs,
    read_judgements,
    require_references,
)

TEXTS = ("src", "mt", "ref")
SCHEMA = pa.schema({**dict.fromkeys(TEXTS, pa.string()), "score": pa.float64()})
# Separator and quoting of text tables; TSV has no quotes.
TEXT_TABLES = {".csv": (",", csv.QUOTE_MINIMAL), ".tsv": ("\t", csv.QUOTE_NONE)}
Normalise = Literal["language-pair", "table", "none"]


def judged_segments(tables: Sequence[tuple[str | Path, str]], normalise: Normalise) -> pd.DataFrame:
    """Return judgements as a training table; missing references are empty.

    tables: files of `read_judgements` and their score columns.  normalise: bring scores to mean 0 and deviation 1
    over each language pair of each file, or over each file, or not at all.
    Raises InputError if all scores of such a group are equal, and errors of `read_judgements`.
    """
    parts = []
    for path, score in tables:
        found = read_judgements(path, score)
        scores = found["score"].to_numpy(copy=True)
        by_pair = normalise == "language-pair"
        groups = np.array(language_pairs(found) if by_pair else [""] * len(found))
        for group in () if normalise == "none" else np.unique(groups):
            rows = groups == group
            own = scores[rows]
            if own.min() == own.max():  # their deviation may be a rounding error
                message = f"{path}: all scores {score} {group} are equal and cannot be normalised; leave them out"
                raise InputError(message)
            scores[rows] = (own - own.mean()) / own.std()
        parts.append(found[list(TEXTS)].assign(score=scores))
    return pd.concat(parts, ignore_index=True)


def write_split(
    batches: Iterable[pd.DataFrame], train: str | Path, validation: str | Path, share: float
) -> None:
    """Divide rows by source; about a `share` goes to the second file.  Raises InputError if one would be empty."""
    with TableWriter(train, SCHEMA) as large, TableWriter(validation, SCHEMA) as small:
        for rows in batches:
            held_out = np.array([is_held_out(source, share) for source in rows["src"]], dtype=bool)
            for writer, kept in ((large, rows[~held_out]), (small, rows[held_out])):
                writer.write(pa.Table.from_pandas(kept, SCHEMA, preserve_index=False))
        for writer in (large, small):
            if not writer.rows:
                message = f"{writer.path}: would be empty; give more segments, or another share of validation"
                raise InputError(message)


def read_segments(path: str | Path, references: bool) -> pd.DataFrame:
    """Read a training table with headings: Parquet, or CSV or TSV by its ending; references: require a column ref.

    Raises InputError naming the column that is missing, or the row whose score is not a finite number.
    """
    path = Path(path)
    columns = [name for name in (*TEXTS, "score") if references or name != "ref"]
    table = _read_table(path, columns)
    scores = pd.to_numeric(table["score"], errors="coerce").to_numpy(dtype=float)
    wrong = table[columns].isna().any(axis=1).to_numpy() | ~np.isfinite(scores)
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{path}: row {row + 1}: a text is missing, or score {table['score'][row]!r} is no "
            "number; mend or remove it"
        )
    if not len(table):
        raise InputError(f"{path}: no segments; give one a row")
    if references:
        require_references(table["ref"], str(path))
    return table.assign(score=scores)


def _read_table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    suffix = next((one for one in path.suffixes if one in TEXT_TABLES), None)
    if suffix is None:
        return read_columns(path, columns).to_pandas()
    if not path.is_file():
        raise InputError(f"{path}: no such table; check the path")
    separator, quoting = TEXT_TABLES[suffix]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the headings
            table = pd.read_csv(
                path,
                sep=separator,
                quoting=quoting,
                dtype=str,
                keep_default_na=False,
                index_col=False,  # otherwise such rows have their first column as index
            )
    except (ValueError, OSError, EOFError, pd.errors.ParserWarning) as error:
        first = str(error).strip().splitlines()[0]
        raise InputError(f"{path}: no table of {suffix[1:].upper()} ({first}); mend it") from error
    for name in columns:
        if name not in table:
            raise InputError(f"{path}: no column '{name}'{nearest(name, table.columns)}")
    return table[list(columns)]
