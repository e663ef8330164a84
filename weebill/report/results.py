"""Results of an experiment of any kind: all measured rows, read from the files of a rule's input."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from weebill.files import read_json
from weebill.report.registry import READERS
from weebill.report.table import three_digits


@dataclass
class Results:
    """All measurements of an experiment; a field is empty if the experiment lacks this kind of measurement."""

    config: Mapping[str, Any]
    qualities: Sequence[Any] = ()
    sizes: Sequence[Any] = ()
    speeds: Sequence[Any] = ()
    latencies: Sequence[Any] = ()
    gpu_speeds: Sequence[Any] = ()
    engines: Sequence[Mapping[str, Any]] = ()  # runs of `weebill benchmark runtime`
    steps: Sequence[Any] = ()  # each student against its teacher, each variant against its student
    comparisons: Sequence[Any] = ()  # pruned students against the students that they should beat
    seeds: Sequence[Any] = ()  # the same comparisons over several seeds
    origins: Sequence[Any] = ()  # BLEU by the original language of the sentences
    shortlists: Sequence[Any] = ()
    texts: Sequence[Any] = ()  # students of other training texts against students of the first
    pairs: Sequence[int] = ()  # number of pairs in each table of training text, by kind and corpus
    firefox: Sequence[Any] = ()  # a published student and its variants, in Bergamot and here
    alignments: Sequence[Mapping[str, Any]] = ()  # variants against the published student
    scale_errors: Sequence[tuple[str, list[Any]]] = ()  # errors of each formula by STUDENT/RECIPE
    head_map: Sequence[Mapping[str, str]] = ()
    teachers: Sequence[tuple[Path, Any]] = ()  # folder and history of each trained teacher
    students: Sequence[tuple[Path, Any]] = ()  # folder and history of each unpruned student
    leads: Sequence[Any] = ()  # scores of the beginnings of articles, which no model made
    robustness: Sequence[Any] = ()  # robustness of metrics to changed numbers and names
    prunings: Sequence[Mapping[str, Any]] = ()  # records of movement pruning, in order of variants

    @classmethod
    def read(cls, config: Mapping[str, Any], files: Mapping[str, Sequence[str]]) -> "Results":
        """Read the files of a rule's input that are named like fields; ignore other names."""
        readers = READERS[config["kind"]]
        found = {}
        for name in files.keys() & readers.keys():
            reader, paths = resolve_name(readers[name]), files[name]
            if isinstance(reader, type):
                found[name] = [reader(**row) for row in read_records(paths)]
            else:
                found[name] = reader(paths)
        return cls(config, **found)

    def size(self, name: object) -> Any | None:
        """Return the size of a variant or metric, None if it was not measured."""
        key = "metric" if self.sizes and hasattr(self.sizes[0], "metric") else "variant"
        return first(self.sizes, **{key: str(name)})

    def mebibytes(self, name: object) -> str:
        """Format the MiB of a variant's or metric's parameters on disk; "" if they were not measured."""
        size = self.size(name)
        return three_digits(size.mib) if size else ""

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


def read_csv(paths: Sequence[str | Path]) -> list[dict[str, str]]:
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
