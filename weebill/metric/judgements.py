"""Human judgements of translations: tables of segments with human scores.

A table has a row for each judgement of one system's translation.  Columns: system; segment, its language pair and
number; src, mt and ref (unbabel-comet's names), empty if there is no reference; score, higher is better.
"""

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from weebill.errors import InputError, nearest
from weebill.files import sha256_text
from weebill.text_files import read_lines

COLUMNS = ("system", "segment", "src", "ref", "mt", "score")
OWN = ("system", "seg_id", "lp", "source", "reference", "hypothesis")  # columns of the file


def read_judgements(path: str | Path, score: str, *, by_system: bool = False) -> pd.DataFrame:
    """Read a table of tab-separated values with a line of headings; the index numbers its rows from 0.

    score: the column of the human score, such as mqm or da_raw.  Other columns: seg_id, source, hypothesis, and
    optionally system, reference and lp.  by_system: require the column system.  A byte-order mark and the line ends
    of Windows are removed.  Raises InputError naming the faulty column or line.
    """
    lines = (line.removesuffix("\r") for line in read_lines(path))
    heading = _checked(next(lines, ""), path, score, by_system)
    rows = []
    for number, line in enumerate(lines, start=2):
        cells = line.split("\t")
        if len(cells) != len(heading):
            raise InputError(
                f"{path}:{number}: {len(cells)} columns, expected {len(heading)}; mend or remove the line"
            )
        row = {"system": "", "reference": "", "lp": "", **dict(zip(heading, cells, strict=True))}
        try:
            value = finite_number(row[score])
        except ValueError as error:
            raise InputError(
                f"{path}:{number}: {score} is {row[score]!r}, no number; mend or remove the line"
            ) from error
        texts = (row[name] for name in ("source", "reference", "hypothesis"))
        rows.append((row["system"], f"{row['lp']} {row['seg_id']}", *texts, value))
    if not rows:
        raise InputError(f"{path}: no judgements; give one a line, below the headings")
    return pd.DataFrame(rows, columns=COLUMNS)


def read_heading(path: str | Path, score: str, *, by_system: bool = False) -> list[str]:
    """Return the names of a table's columns; arguments and errors are those of `read_judgements`."""
    return _checked(next(read_lines(path), "").removesuffix("\r"), path, score, by_system)


def _checked(line: str, path: str | Path, score: str, by_system: bool) -> list[str]:
    """Return the columns of a line of headings.  Raises InputError if one is missing or repeated."""
    heading = line.split("\t")
    if len(heading) == 1:
        raise InputError(f"{path}: its first line has no tab; give headings, separated by tabs")
    if by_system and "system" not in heading:
        raise InputError(
            f"{path}: no column 'system', which tells people from systems; name it so, or set humans: true"
            f"{nearest('system', heading)}"
        )
    for name in (score, "source", "hypothesis", "seg_id"):
        if name not in heading:
            raise InputError(f"{path}: no column '{name}'{nearest(name, heading)}")
    for name in (score, *OWN):
        if heading.count(name) > 1:
            raise InputError(f"{path}: {heading.count(name)} columns '{name}'; rename all but one")
    return heading


def averaged(judged: pd.DataFrame) -> pd.DataFrame:
    """Return every translation once, at its first place, with the mean of its scores by several assessors.

    Segments of two texts may have the same number and source, so the translation's text is part of the key.
    """
    key = ["segment", "src", "system", "mt"]
    if not judged.duplicated(key).any():
        return judged  # the same bits, which `JudgedSet.sha256` hashes: a sum would turn −0 into 0
    number = judged.groupby(key, sort=False).ngroup()
    means = np.bincount(number, judged["score"]) / np.bincount(number)
    return judged.drop_duplicates(key).assign(score=means)


def language_pairs(judged: pd.DataFrame) -> list[str]:
    """Return the language pair of each segment; empty if unknown."""
    return [segment.partition(" ")[0] for segment in judged["segment"]]


def finite_number(text: str) -> float:
    """Read a score.  Raises ValueError if it is not a finite number."""
    if not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def require_references(references: Sequence[str], reader: str) -> None:
    """Raise InputError if references are missing, for a metric that compares with them."""
    if not any(reference.strip() for reference in references):
        raise InputError(
            f"{reader}: compares with references, and the table has none; leave it out, or give the table a "
            "column reference"
        )


# Human translations: ref-A and ref-B of WMT21, refA of WMT22, Human-A.0 and Human-P.0 of WMT20, HUMAN of WMT19.
PERSON = re.compile(r"(ref|human)([-_.]?[a-z])?(\.\d+)?", re.IGNORECASE)


def is_machine(system: str) -> bool:
    """Return True if a system took part in WMT's translation task: neither a human nor a variant made for metrics."""
    return not (PERSON.fullmatch(system) or system.startswith("metricsystem"))


def is_held_out(source: str, share: float) -> bool:
    """Return True if a source belongs to the validation share, unseen in training; only its text decides."""
    return int(sha256_text(source)[:12], 16) < share * 16**12
