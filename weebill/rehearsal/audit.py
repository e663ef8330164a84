"""Audit of a rehearsal's tables: each variant's times on a GPU must be in the right place.

A table is read as a reader would read it, from its CSV, and compared with the measurements.
"""

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from weebill.experiment.variants import UNPRUNED
from weebill.files import read_json
from weebill.report.results import read_csv

TABLE, MEASURED = "tables/speed/wmt21_table4.csv", "evaluation/gpu_speed.json"
NEAR = 0.01  # share; cells have three digits


def misplaced(results: Path) -> list[str]:
    """Return messages about times on GPUs that WMT21's table 4 lacks or shows otherwise; [] if there is no table."""
    if not (results / TABLE).is_file():
        return []
    rows = read_csv([results / TABLE])
    measured = read_json(results / MEASURED)
    return [fault for one in measured if _belongs(one) for fault in _faults(one, rows)]


def _belongs(one: dict[str, Any]) -> bool:
    """Return True if a measurement is of batches, of an unpruned student without a shortlist."""
    return one["batch_size"] > 1 and not one["shortlist"] and f"/{UNPRUNED}/" in one["variant"]


def _faults(one: dict[str, Any], rows: list[dict[str, str]]) -> Iterator[str]:
    place = (one["variant"], str(one["batch_size"]))
    key, seconds = f"{one['numbers']}_ours", statistics.median(one["seconds"])
    if rows and key not in rows[0]:  # the paper has no such numbers
        return
    shown = [row[key] for row in rows if (row.get("variant"), row.get("batch")) == place]
    if len(shown) != 1 or not shown[0] or abs(float(shown[0]) / seconds - 1) > NEAR:
        found = " and ".join(shown) or "nothing"
        yield (
            f"{TABLE}: {found} for {one['variant']} in {one['numbers']}, batch {one['batch_size']}; measured were "
            f"{seconds:.3g} s"
        )
