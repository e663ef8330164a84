"""Measurement: one number with everything needed to check it."""

import math
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import weebill
from weebill.errors import InputError
from weebill.evaluation.this_process import usable_cores
from weebill.experiment.searches import is_search
from weebill.files import parameter_files, sha256_files


@dataclass(frozen=True)
class Variant:
    """Subject of a measurement: a student made by a recipe in a precision, or a trained model used in a search."""

    student: str  # "teacher" for the teacher
    recipe: str  # "unpruned", a pruning recipe, or a search of the unpruned model: "beam-8"
    precision: str  # "float32", "int8-finetuned", … (weebill.experiment.precisions)

    @classmethod
    def parse(cls, name: str) -> "Variant":
        """Parse "STUDENT/RECIPE/PRECISION".  Raises InputError for any other form."""
        parts = name.split("/")
        if len(parts) != 3:
            raise InputError(f"variant '{name}': expected STUDENT/RECIPE/PRECISION")
        return cls(*parts)

    @property
    def baseline(self) -> "Variant":
        """Unpruned float32 model of the student, against which its variants are tested."""
        return Variant(self.student, "unpruned", "float32")

    @property
    def is_search(self) -> bool:
        """True if the recipe is a search, as always for the teacher; a student's model is then measured once more."""
        return is_search(self.recipe)

    def __str__(self) -> str:
        return f"{self.student}/{self.recipe}/{self.precision}"


@dataclass(frozen=True)
class Measurement:
    """Quality score.  It holds no time and no hardware: the same inputs give the same bytes anywhere."""

    variant: str  # STUDENT/RECIPE/PRECISION
    student: str
    recipe: str
    precision: str
    test_set: str
    metric: str  # "BLEU" or "chrF"
    score: float  # 0 to 100
    low: float  # bounds of the 95 % bootstrap interval
    high: float
    sentences: int
    compared_with: str | None  # variant that p_value compares with; None for a baseline
    p_value: float | None  # paired bootstrap
    signature: str  # sacreBLEU's
    test_set_sha256: str
    model_sha256: str
    seed: int  # the experiment's; the signature contains the bootstrap's seed
    versions: dict[str, str]


def software_versions(others: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions that a score depends on: Python, torch, sacreBLEU, Weebill and other installed packages."""
    return {
        "python": platform.python_version(),
        "torch": version("torch"),
        "sacrebleu": version("sacrebleu"),
        "weebill": weebill.__version__,
        **{name: version(name) for name in others},
    }


def conditions(packages: Iterable[str] = ()) -> dict[str, Any]:
    """Return the conditions of a timing: `hardware`, and `versions`, which include those of further packages."""
    return {"hardware": hardware(), "versions": software_versions(packages)}


def versions_line(versions: Mapping[str, str]) -> str:
    """Return versions in one line, as printed below tables."""
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def hardware() -> str:
    """Return the processor's name, family and model, and the number of cores that this process may use."""
    found: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        found.setdefault(key.strip(), value.strip())
    name = found.get("model name", "unknown processor")
    if "cpu family" in found and "model" in found:  # virtual machines often hide the name
        name += f" (family {found['cpu family']}, model {found['model']})"
    count = len(usable_cores())
    return f"{name}, {count} core{'s' if count > 1 else ''}"


def model_sha256(folders: Iterable[str | Path]) -> str:
    """Return the SHA-256 of a model's parameters: of its one file, or of the digests of several files.

    An ensemble has several: folders in the order given, files in name order within each.
    """
    return sha256_files(file for folder in folders for file in parameter_files(folder))


def stored_numbers(folder: str | Path) -> dict[str, int]:
    """Count the numbers of each type in parameter files: {"F32": 406291456}; codes of weights are I8, or two a U8."""
    # Import here: the workflow reads sizes at every start, and this import takes seconds.
    from safetensors import safe_open

    found: Counter[str] = Counter()
    for path in parameter_files(folder):
        with safe_open(path, framework="numpy") as file:
            for part in map(file.get_slice, file.keys()):
                found[part.get_dtype()] += math.prod(part.get_shape())
    return dict(found)
