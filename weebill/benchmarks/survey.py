"""All benchmarks in their smallest meaningful settings: signed figures, compared with published ones."""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

from weebill.benchmarks import NAMES, SMALLER_IS_BETTER, Row
from weebill.errors import InputError
from weebill.evaluation.measurement import conditions
from weebill.files import read_json
from weebill.report.rendering import to_markdown
from weebill.report.rows import code_of_modules
from weebill.report.table import Table
from weebill.workflow.repository import commit

LOSS = 0.05  # share of a ratio; larger losses are reported


@dataclass
class Survey:
    """Figures of all benchmarks, and the conditions in which they were measured."""

    rounds: int
    signature: dict[str, Any] = field(default_factory=lambda: {"commit": commit(), **conditions()})
    rows: list[dict[str, Any]] = field(default_factory=list)  # each: a Row, "benchmark" and "key"
    tables: list[dict[str, Any]] = field(default_factory=list)  # each: "benchmark" and "table"
    not_run: dict[str, str] = field(default_factory=dict)  # benchmark → why it cannot run here
    failed: dict[str, str] = field(default_factory=dict)  # benchmark → error
    finished: list[str] = field(default_factory=list)  # benchmarks whose rows are complete

    def add(self, benchmark: str, found: Row | Table) -> None:
        """Add a row or a table of a benchmark, and the fingerprint of its code."""
        code = code_of_modules(**{benchmark: f"weebill.benchmarks.{benchmark}"})
        self.signature["code"] = self.signature.get("code", {}) | code
        if isinstance(found, Table):
            self.tables.append({"benchmark": benchmark, "table": asdict(found)})
        else:
            self.rows.append({"benchmark": benchmark, "key": found.key, **found.to_dict()})

    @property
    def count(self) -> int:
        """Number of rows and tables."""
        return len(self.rows) + len(self.tables)

    @classmethod
    def read(cls, path: str | Path) -> "Survey":
        """Read a file of `weebill benchmark all --json`.  Raises InputError if the file holds anything else."""
        try:
            found = cls(**read_json(path))
            figures = [(_name(row), row["ours"], *_interval(row)) for row in found.rows]
            if not all(isinstance(one, int | float) for _, *numbers in figures for one in numbers):
                raise ValueError("a figure is no number")
            found.signature["hardware"]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            message = f"{path}: holds no figures of benchmarks; name a file of `weebill benchmark all --json FILE`"
            raise InputError(message) from error
        return found


def shown(found: Row | Table) -> str:
    """Return a row or a table as text for the terminal."""
    return f"\n{to_markdown(found)}" if isinstance(found, Table) else str(found)


def load(name: str) -> ModuleType:
    """Import a benchmark.  Raises InputError if an opponent's package is not installed."""
    module = importlib.import_module(f"weebill.benchmarks.{name}")
    for package in getattr(module, "OPPONENTS", ()):
        try:
            version(package)
        except PackageNotFoundError as error:
            message = f"benchmark {name}: the opponent {package} is not installed; `make setup` installs it"
            raise InputError(message) from error
    return module


def survey(
    rounds: int,
    save: Callable[[Survey], None],
    *,
    names: Iterable[str] = NAMES,
    stopped: Survey | None = None,
) -> Survey:
    """Run benchmarks one after the other, print their rows, and return all figures and failures.

    A benchmark "cannot run" if it reports missing files or packages before its first row.
    save: called with the figures so far, at the start and after each benchmark.
    stopped: an earlier survey; its finished benchmarks are reused.

    Raises InputError if the earlier survey did not run the same clean commit, with as many rounds, on this machine.
    """
    found = Survey(rounds)
    if stopped:
        if not _same_work(stopped, found):
            raise InputError(
                "--json: the file has figures of other or unrecorded code, of another machine or number of rounds; "
                "move it away, or name another file"
            )
        found = replace(stopped, not_run={}, failed={})
        found.rows, found.tables = (
            [one for one in kept if one["benchmark"] in found.finished]
            for kept in (found.rows, found.tables)
        )
    save(found)
    for name in names:
        if name in found.finished:
            print(f"{name}: measured before", flush=True)
            continue
        before = found.count
        try:
            module = load(name)
            packages = getattr(module, "OPPONENTS", ())
            found.signature["versions"] |= {package: version(package) for package in packages}
            rows: Iterable[Row | Table] = module.run(rounds, **getattr(module, "SMALLEST", {}))
            for row in rows:
                found.add(name, row)
                print(f"{name}: {shown(row)}", flush=True)
            found.finished.append(name)
        except (InputError, ModuleNotFoundError) as error:
            began = found.count > before
            (found.failed if began else found.not_run)[name] = str(error)
            print(f"{name}: {'failed' if began else 'cannot run here'}: {error}", flush=True)
        except Exception as error:
            found.failed[name] = f"{type(error).__name__}: {error}"
            print(f"{name}: failed: {found.failed[name]}", flush=True)
        save(found)
    return found


def _same_work(one: Survey, other: Survey) -> bool:
    commits = one.signature["commit"], other.signature["commit"]
    same = one.rounds == other.rounds and one.signature["hardware"] == other.signature["hardware"]
    return same and commits[0] == commits[1] is not None and not commits[0].endswith("-dirty")


def changes(found: Survey, published: Survey) -> Iterator[str]:
    """Yield a line for each figure: its ratio now, the published ratio, and their quotient, with intervals.

    If the hardware is the same as for the published figures, the line also has the change of our own speed.
    """
    before = {_name(row): row for row in published.rows}
    same = found.signature["hardware"] == published.signature["hardware"]
    if not same:
        yield (
            f"published on another machine ({published.signature['hardware']}): its ratios can be compared, "
            "its speeds cannot"
        )
    for row in found.rows:
        old = before.pop(_name(row), None)
        start = f"{_name(row)}: ratio {_ratio(row)}"
        if old is None:
            yield f"{start}, not published yet"
            continue
        change, lowest, highest = row["ratio"] / old["ratio"], old["lowest"], old["highest"]
        gain = 1 / change if row["unit"] in SMALLER_IS_BETTER else change
        yield (
            f"{start}, published {_ratio(old)}; changed by {change:.2f} "
            f"({row['lowest'] / highest:.2f} to {row['highest'] / lowest:.2f})"
            + (f", ours alone by {row['ours'] / old['ours']:.2f}" if same else "")
            + (f"; a loss over {LOSS:.0%}" if gain < 1 - LOSS else "")
        )
    yield from (
        f"{name}: published ratio {_ratio(old)}, not measured now" for name, old in before.items()
    )


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['benchmark']}, {row['key']}, {row['unit']}"


def _interval(row: Mapping[str, Any]) -> tuple[float, float, float]:
    return row["ratio"], row["lowest"], row["highest"]


def _ratio(row: Mapping[str, Any]) -> str:
    return "{:.2f} ({:.2f} to {:.2f})".format(*_interval(row))
