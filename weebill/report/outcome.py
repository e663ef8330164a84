"""Last lines of a complete run: results, read from its tables, and a command that translates."""

import shlex
import shutil
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from weebill.experiment.searches import is_search
from weebill.report.front.chosen import SMALL, is_baseline
from weebill.report.results import read_csv
from weebill.report.table import shortened

BASELINE = "unpruned/float32"


@dataclass(frozen=True)
class _Model:
    """Row of the printed table; `speed` is in words per second on one core, by the fastest engine."""

    variant: str
    bleu: float
    mebibytes: float
    speed: float

    def line(self, role: str, width: int) -> str:
        speed = f"{self.speed:,.0f}" if self.speed >= 100 else shortened(self.speed)
        size = f"{shortened(self.mebibytes):>9} {speed:>9}"
        return f"  {role:<20} {self.variant:<{width}} {self.bleu:6.1f} {size}"


def outcome(config: Mapping[str, Any], results: Path) -> list[str]:
    """Return lines with quality, size and speed of teacher, student and best small student, and a command to paste.

    results: folder of a complete experiment.  The student is the best unpruned one in float32.  The best small
    student has the highest BLEU of those with at most half of its size, without pruning's baselines and further
    searches, which have no model of their own.  The list is empty for other kinds of experiments, and if there is no
    student.
    """
    if config["kind"] != "translation":
        return []
    models = _models(results / "tables")
    teachers = [one for one in models if one.variant.startswith("teacher/")]
    students = [one for one in models if one.variant.endswith(f"/{BASELINE}")]
    recipes = {one: one.variant.split("/")[1] for one in models}
    models = [m for m in models if not (is_search(recipes[m]) or is_baseline(config, recipes[m]))]
    if not students:
        return []
    student = _best(students)
    rows = {"student": student}
    if teachers:
        rows = {"teacher": _best(teachers), **rows}
    if small := [one for one in models if one.mebibytes <= SMALL * student.mebibytes]:
        rows["best small student"] = _best(small)
    width = max(len(one.variant) for one in rows.values())
    command = _command(list(rows.values())[-1].variant, results, list(config["test_sets"]))
    return [
        "What came out: BLEU, size in MiB, and words translated per second on one core",
        f"  {'':<20} {'':<{width}} {'BLEU':>6} {'MiB':>9} {'words/s':>9}",
        *(one.line(role, width) for role, one in rows.items()),
        f"Translate with the {list(rows)[-1]}:",
        f"  {command}",
    ]


def _best(models: Sequence[_Model]) -> _Model:
    """Return the model with the highest BLEU; the smallest wins ties."""
    return max(models, key=lambda one: (one.bleu, -one.mebibytes))


def _models(tables: Path) -> list[_Model]:
    """Read the tables of quality and size, and of speed."""
    speeds: dict[str, float] = {}
    for row in read_csv([tables / "speed/variants.csv"]):
        speeds[row["variant"]] = max(speeds.get(row["variant"], 0.0), float(row["wps_1core"]))
    # Rows of each variant, one for each test set.
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in read_csv([tables / "variants.csv"]):
        rows[row["variant"]].append(row)
    scores = {one: fmean(float(row["bleu"]) for row in found) for one, found in rows.items()}
    together = {row["variant"]: float(row["bleu"]) for row in read_csv([tables / "steps.csv"])}
    if together and any(len(found) > 1 for found in rows.values()):
        scores = together  # on all test sets together, as on the report's first page
    return [
        _Model(variant, scores[variant], float(found[0]["size_mib"]), speeds[variant])
        for variant, found in rows.items()
        if variant in scores and variant in speeds
    ]


def _command(variant: str, results: Path, test_sets: Sequence[str]) -> str:
    """Return a command that translates a sentence by a student."""
    sentence = _sentence(variant, results, test_sets)
    model = shlex.quote(str(results / "models" / variant))
    # In double quotes, an apostrophe needs no escape; shlex would write it as '"'"'.
    plain = "'" in sentence and not set(sentence) & set('"$`\\!')
    quoted = f'"{sentence}"' if plain else shlex.quote(sentence)
    return f"echo {quoted} | {_program()} translate {model}"


def _sentence(variant: str, results: Path, test_sets: Sequence[str]) -> str:
    """Return the longest source sentence whose translation equals the reference; if there is none, the first."""
    from weebill.corpus.table import read_columns
    from weebill.text_files import read_lines

    triples = []
    for name in test_sets:
        pairs = read_columns(results / f"test_sets/{name}.parquet", ["source", "target"])
        lines = read_lines(results / f"evaluation/translations/{variant}/{name}.txt")
        triples += zip(*pairs.to_pydict().values(), lines, strict=True)
    right = [source for source, reference, translation in triples if translation == reference]
    return max(right, key=len, default=triples[0][0])


def _program() -> str:
    """Return `weebill` if the shell finds this environment's program under that name, otherwise its path."""
    program = Path(sys.executable).with_name("weebill")
    on_path = shutil.which("weebill")
    if on_path and program.exists() and program.samefile(on_path):
        return "weebill"
    inside = program.is_relative_to(Path.cwd())
    return shlex.quote(str(program.relative_to(Path.cwd()) if inside else program))
