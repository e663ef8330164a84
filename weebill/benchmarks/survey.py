"""All benchmarks in their smallest meaningful settings, as one signed set of figures."""

import importlib
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

import weebill
from weebill.benchmarks import NAMES, Row
from weebill.errors import InputError
from weebill.evaluation.measurement import hardware, software_versions


def signature() -> dict[str, Any]:
    """Return the commit, the processor, and the versions of the libraries."""
    return {"commit": commit(), "hardware": hardware(), "versions": software_versions()}


def commit() -> str | None:
    """Return the commit of this checkout, with "-dirty" if files differ from it; None outside a checkout."""
    root = Path(weebill.__file__).parents[1]
    if not (root / ".git").exists() or not shutil.which("git"):
        return None
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return done.stdout.strip() or None


@dataclass
class Survey:
    """Figures of all benchmarks, and the conditions in which they were measured."""

    rounds: int
    signature: dict[str, Any] = field(default_factory=signature)
    rows: list[dict[str, Any]] = field(default_factory=list)  # each a Row, "benchmark" and "key"
    not_run: dict[str, str] = field(default_factory=dict)  # benchmark → why it cannot run here
    failed: dict[str, str] = field(default_factory=dict)  # benchmark → error


def load(name: str) -> ModuleType:
    """Import a benchmark.  Raises InputError if an opponent's package is not installed."""
    module = importlib.import_module(f"weebill.benchmarks.{name}")
    for package in getattr(module, "OPPONENTS", ()):
        try:
            version(package)
        except PackageNotFoundError as error:
            raise InputError(
                f"benchmark {name}: the opponent {package} is not installed; `make setup` installs it"
            ) from error
    return module


def survey(
    rounds: int,
    *,
    names: Iterable[str] = NAMES,
    say: Callable[[str], None] = print,
    save: Callable[[Survey], None] = lambda found: None,
) -> Survey:
    """Run benchmarks one after the other; return their figures, and the benchmarks that could not run or failed.

    A benchmark cannot run if it reports missing files or packages before its first row.

    Args:
        rounds: rounds of each benchmark.
        names: benchmarks to run.
        say: called with a line for each row, and for each benchmark that did not end.
        save: called at the start and after each benchmark with the figures so far.
    """
    found = Survey(rounds)
    save(found)
    for name in names:
        before = len(found.rows)
        try:
            module = load(name)
            opponents = getattr(module, "OPPONENTS", ())
            found.signature["versions"] |= {one: version(one) for one in opponents}
            rows: Iterable[Row] = module.run(rounds, **getattr(module, "SMALLEST", {}))
            for row in rows:
                found.rows.append({"benchmark": name, "key": row.key, **row.to_dict()})
                say(f"{name}: {row}")
        except (InputError, ModuleNotFoundError) as error:
            began = len(found.rows) > before
            (found.failed if began else found.not_run)[name] = str(error)
            say(f"{name}: {'failed' if began else 'cannot run here'}: {error}")
        except Exception as error:
            found.failed[name] = f"{type(error).__name__}: {error}"
            say(f"{name}: failed: {found.failed[name]}")
        save(found)
    return found
