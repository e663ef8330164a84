"""Measure a speed claim of the project again: ours and an opponent, in turn, pinned to the same core."""

import argparse
import importlib
import json
import pkgutil
from collections.abc import Iterable
from dataclasses import asdict
from types import ModuleType
from typing import Any

from weebill import benchmarks
from weebill.arguments import positive
from weebill.benchmarks import Row


def names() -> list[str]:
    """The benchmarks that exist: the modules of weebill.benchmarks."""
    return sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `weebill benchmark`; those behind the name are the benchmark's own."""
    parser.add_argument("name", choices=names(), metavar="NAME", help=", ".join(names()))
    parser.add_argument(
        "options",
        nargs=argparse.REMAINDER,
        metavar="…",
        help="--rounds N, --json and what else NAME --help tells",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run one benchmark and print its rows as they are found, with the machine and the versions they are of."""
    from weebill.evaluation.measurement import hardware, software_versions, versions_line

    module = importlib.import_module(f"weebill.benchmarks.{arguments.name}")
    options = vars(_parser(arguments.name, module).parse_args(arguments.options))
    as_json = options.pop("json")
    rows: Iterable[Row] = module.run(**options)
    machine, versions = hardware(), software_versions(getattr(module, "OPPONENTS", ()))
    if as_json:
        _print_list(rows, {"hardware": machine, "versions": versions})
    else:
        print(f"{machine}; {versions_line(versions)}", flush=True)
        for row in rows:
            print(row, flush=True)
    return 0


def _print_list(rows: Iterable[Row], signature: dict[str, Any]) -> None:
    """A JSON list, row by row, so that an hour's run that fails at its end leaves what it had found."""
    before = "[\n"
    for row in rows:
        print(before + json.dumps(asdict(row) | signature, indent=2), end="", flush=True)
        before = ",\n"
    print("[]" if before == "[\n" else "\n]")


def _parser(name: str, module: ModuleType) -> argparse.ArgumentParser:
    """The options of one benchmark: those of all, and those that its `add_arguments` adds."""
    parser = argparse.ArgumentParser(prog=f"weebill benchmark {name}", description=module.__doc__)
    parser.add_argument("--rounds", type=positive, default=5, metavar="N", help="default 5")
    parser.add_argument("--json", action="store_true", help="a JSON list, one object a claim")
    if hasattr(module, "add_arguments"):
        module.add_arguments(parser)
    return parser
