"""Figures of the GPU benchmark for a setting, for a run, and for estimates of cost; this needs no PyTorch."""

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weebill.errors import InputError

# Parts with rates for estimates, and the values of a figure by which estimates find its rate.
RATED = {"training": ("weights", "positions"), "decoding": ("weights", "beam")}


@dataclass
class Found:
    """Figures of a run, the conditions of the measurement, failures, and settings that were left out for time."""

    card: str
    date: str
    signature: dict[str, Any]
    rows: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)  # setting → traceback
    left_out: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)  # by setting
    table: list[str] = field(default_factory=list)


def figure(
    part: str,
    name: str,
    unit: str,
    ours: Sequence[float],
    other: Sequence[float] = (),
    **more: Any,
) -> dict[str, Any]:
    """Return a figure: the medians of our rounds and an opponent's, their ratio, all rounds, and further values."""
    own = statistics.median(ours)
    theirs = statistics.median(other) if other else None
    return {
        "part": part,
        "name": name,
        "unit": unit,
        "ours": own,
        "other": theirs,
        "ratio": own / theirs if theirs else None,
        "rounds": list(ours),
        "other_rounds": list(other),
        **more,
    }


def line(row: Mapping[str, Any]) -> str:
    """Return a figure as a line of the table."""
    other = "" if row["other"] is None else f"{row['other']:>12,.0f} {row['ratio']:>7.2f} ×"
    share = f"{100 * row['share']:>7.1f} % of the peak" if row.get("share") else ""
    return f"{row['name']:<58}{row['ours']:>12,.0f} {row['unit']:<18}{other:<22}{share}"


def together(parts: Sequence[Mapping[str, Any]]) -> Found:
    """Join the figures of runs on one card, each as read from its JSON."""
    joined = Found(*(parts[0][name] for name in ("card", "date", "signature")))
    for part in parts:
        known = {row["name"] for row in joined.rows}
        joined.rows += [row for row in part["rows"] if row["name"] not in known]
        joined.failures |= part["failures"]
        joined.left_out += part["left_out"]
        joined.seconds |= part["seconds"]
    joined.table = [line(row) for row in joined.rows]
    return joined


def peak_of(rows: Sequence[Mapping[str, Any]], precision: str = "bfloat16") -> float:
    """Return the measured operations per second of matrix products; infinity if they were not measured."""
    peaks = (row for row in rows if row["part"] == "peak" and row.get("precision") == precision)
    return next((1e12 * row["ours"] for row in peaks), float("inf"))


def unrated(parts: Collection[str]) -> list[str]:
    """Return the parts that rates need and that are not among these."""
    return [part for part in ("peak", *RATED) if part not in parts]


def rates_for_estimates(found: Found) -> dict[str, Any]:
    """Return rates for estimates of cost: operations per second of training and search, by weights, batch and beam.

    Trainings in float32 are not measured; the ratio of the peaks of float32 and bfloat16 products is stored instead.
    Raises InputError if a part was not measured.
    """
    if missing := unrated({row["part"] for row in found.rows}):
        raise InputError(f"--rates: no figures of {', '.join(missing)}; measure these parts too")
    return {
        "card": found.card,
        "date": found.date,
        "commit": found.signature["commit"],
        "float32": peak_of(found.rows, "float32") / peak_of(found.rows),
        **{
            part: [
                {key: row[key] for key in (*names, "operations")}
                for row in found.rows
                if row["part"] == part
            ]
            for part, names in RATED.items()
        },
    }
