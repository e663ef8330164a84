"""Results of an experiment of any kind: all measured rows, read from the files of a rule's input."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from weebill.files import read_json
from weebill.report.registry import READERS

if TYPE_CHECKING:
    from weebill.quantization.activation_error import ActivationError


@dataclass
class Results:
    """All measurements of an experiment; a field is empty if the experiment lacks this kind of measurement."""

    config: Mapping[str, Any]
    qualities: list[Any] = field(default_factory=list)
    sizes: list[Any] = field(default_factory=list)
    speeds: list[Any] = field(default_factory=list)
    latencies: list[Any] = field(default_factory=list)
    gpu_speeds: list[Any] = field(default_factory=list)
    engines: list[Mapping[str, Any]] = field(default_factory=list)
    """Runs of `weebill benchmark runtime`."""
    comparisons: list[Any] = field(default_factory=list)
    """Pruned students against the students that they are to beat."""
    seeds: list[Any] = field(default_factory=list)
    """The same comparisons over several seeds."""
    shortlists: list[Any] = field(default_factory=list)
    texts: list[Any] = field(default_factory=list)
    """Students of other training texts against the students of the first text."""
    pairs: list[int] = field(default_factory=list)
    """Sentence pairs in each table of training text, in the order of kinds and corpora."""
    scales: list[Any] = field(default_factory=list)
    """Qualities of the students whose formulas of activation scales are compared."""
    scale_errors: "list[tuple[str, list[ActivationError]]]" = field(default_factory=list)
    """Errors of each formula by STUDENT/RECIPE."""
    head_map: list[Mapping[str, str]] = field(default_factory=list)
    teachers: list[tuple[Path, Any]] = field(default_factory=list)
    """Folder and validation history of each trained teacher."""
    students: list[tuple[Path, Any]] = field(default_factory=list)
    """Folder and validation history of each unpruned student."""
    leads: list[Any] = field(default_factory=list)
    """Scores of the beginnings of articles, which no model made."""
    prunings: list[Mapping[str, Any]] = field(default_factory=list)
    """Records of movement pruning, in the order of the variants that it made."""

    @classmethod
    def read(cls, config: Mapping[str, Any], files: Mapping[str, Sequence[str]]) -> "Results":
        """Read the files of a rule's input, which are named like the fields; ignore files of other names."""
        readers = READERS[config["kind"]]
        found = {}
        for name in files.keys() & readers.keys():
            reader, paths = resolve_name(readers[name]), files[name]
            is_class = isinstance(reader, type)
            found[name] = (
                [reader(**row) for row in read_records(paths)] if is_class else reader(paths)
            )
        return cls(config, **found)

    def size(self, name: object) -> Any | None:
        """Return the size of a variant or metric, None if it was not measured."""
        key = "metric" if self.sizes and hasattr(self.sizes[0], "metric") else "variant"
        return first(self.sizes, **{key: str(name)})

    def metrics(self) -> list[str]:
        """Return the metrics that were measured on the test sets, in the order of the measurements."""
        sets = self.config["test_sets"]
        return list(dict.fromkeys(one.metric for one in self.qualities if one.test_set in sets))

    def agreement(self, metric: str, test_set: str) -> Any | None:
        """Return the agreement of a metric on a judged set, None if it was not measured."""
        return first(self.qualities, metric=metric, test_set=test_set)


def first(rows: Iterable[Any], **wanted: Any) -> Any | None:
    """Return the first row with the wanted values of some attributes, None if there is none."""
    for row in rows:
        if all(getattr(row, name) == value for name, value in wanted.items()):
            return row
    return None


def read_records(paths: Sequence[str]) -> list[Any]:
    """Read JSON files, each of which holds one record or a list of them."""
    values = [read_json(path) for path in paths]
    return [row for one in values for row in (one if isinstance(one, list) else [one])]


def read_csv(paths: Sequence[str]) -> list[dict[str, str]]:
    """Read the rows of CSV files."""
    rows = []
    for path in paths:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows += csv.DictReader(file)
    return rows


def read_courses(paths: Sequence[str]) -> list[tuple[Path, Any]]:
    """Read the validation history of each model folder."""
    configs = [(Path(path), read_json(Path(path) / "config.json")) for path in paths]
    return [(path, config["lineage"]["course"]["history"]) for path, config in configs]
