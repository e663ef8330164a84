"""Training tables of regression models: source, translation, reference and score in each row.

Columns have unbabel-comet's names: src, mt, ref, score.  This module runs in its environment too.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from weebill.corpus.table import TableWriter, read_columns
from weebill.errors import InputError, nearest
from weebill.metric.held_out import is_held_out
from weebill.metric.judgements import read_judgements, require_references

TEXTS = ("src", "mt", "ref")
SCHEMA = pa.schema(
    [*(pa.field(name, pa.string()) for name in TEXTS), pa.field("score", pa.float64())]
)
SEPARATORS = {".csv": ",", ".tsv": "\t"}
Normalise = Literal["language-pair", "table", "none"]


def judged_segments(tables: Sequence[tuple[str | Path, str]], normalise: Normalise) -> pd.DataFrame:
    """Return judgements as a training table; missing references are empty.

    tables: files of `judgements.read_judgements`, each with its score column.  normalise: bring scores to mean 0
    and deviation 1 over each language pair of each file, or over each file, or not at all.
    Raises InputError if all scores of such a group are equal, and as `read_judgements`.
    """
    return pd.concat([_judged(path, score, normalise) for path, score in tables], ignore_index=True)


def _judged(path: str | Path, score: str, normalise: Normalise) -> pd.DataFrame:
    found = read_judgements(path, score)
    texts = (found.sources, found.hypotheses, found.references)
    table = pd.DataFrame(dict(zip(TEXTS, texts, strict=True)) | {"score": found.scores})
    if normalise == "none":
        return table
    groups = np.array(found.language_pairs if normalise == "language-pair" else [""] * len(found))
    for group in np.unique(groups):
        rows = groups == group
        scores = found.scores[rows]
        if scores.min() == scores.max():  # their deviation may be a rounding error
            raise InputError(
                f"{path}: all scores {score} {group} are equal and cannot be normalised; "
                "leave them out"
            )
        table.loc[rows, "score"] = (scores - scores.mean()) / scores.std()
    return table


def write_split(
    batches: Iterable[pd.DataFrame], train: str | Path, validation: str | Path, share: float
) -> None:
    """Write rows to two Parquet files; about a `share` of the sources is in the second, and no source is in both.

    Raises InputError if one of them would be empty.
    """
    with TableWriter(train, SCHEMA) as large, TableWriter(validation, SCHEMA) as small:
        for rows in batches:
            held_out = np.array([is_held_out(source, share) for source in rows["src"]], dtype=bool)
            for writer, kept in ((large, rows[~held_out]), (small, rows[held_out])):
                writer.write(pa.Table.from_pandas(kept, SCHEMA, preserve_index=False))
        for writer in (large, small):
            if not writer.rows:
                raise InputError(
                    f"{writer.path}: would be empty; give more segments, or another share of validation"
                )


def read_segments(path: str | Path, references: bool) -> pd.DataFrame:
    """Read a training table: Parquet, or CSV or TSV by its name, with a line of headings.

    references: require a column ref.  TSV has no quotes.
    Raises InputError naming the column that is missing, or the row whose score is not a finite number.
    """
    path = Path(path)
    columns = [name for name in (*TEXTS, "score") if references or name != "ref"]
    suffix = next((one for one in path.suffixes if one in SEPARATORS), None)
    of_text = suffix is not None
    table = (
        _read_text(path, suffix, columns) if of_text else read_columns(path, columns).to_pandas()
    )
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


def _read_text(path: Path, suffix: str, columns: Sequence[str]) -> pd.DataFrame:
    if not path.is_file():
        raise InputError(f"{path}: no such table; check the path")
    quoting = {".csv": 0, ".tsv": 3}[suffix]  # csv.QUOTE_MINIMAL, csv.QUOTE_NONE
    try:
        table = pd.read_csv(
            path, sep=SEPARATORS[suffix], quoting=quoting, dtype=str, keep_default_na=False
        )
    except (ValueError, OSError, EOFError) as error:
        first = str(error).strip().splitlines()[0]
        raise InputError(f"{path}: no table of {suffix[1:].upper()} ({first}); mend it") from error
    for name in columns:
        if name not in table:
            raise InputError(f"{path}: no column '{name}'{nearest(name, table.columns)}")
    return table[list(columns)]
