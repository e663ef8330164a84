"""Measure a speed claim of the project again: Weebill and an opponent take turns, pinned to the same core."""

import argparse
import json
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from weebill.arguments import Parser, positive
from weebill.benchmarks import NAMES, Row, add_options
from weebill.errors import InputError

if TYPE_CHECKING:
    from weebill.benchmarks.survey import Survey
    from weebill.report.table import Table

ALL, GPU = "all", "gpu"
PAGE = "write a page to this file too, such as docs/results/NAME.md, and its rows to NAME/rows.json beside it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = [*NAMES, GPU, ALL]
    parser.add_argument("name", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="…",
                        help="options, which `weebill benchmark NAME --help` lists")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Run a benchmark; print each row or table as soon as it is measured, and the machine and the versions."""
    from weebill.benchmarks.page import check_page, write_page
    from weebill.benchmarks.survey import Survey, load, shown
    from weebill.evaluation.measurement import conditions, versions_line
    from weebill.workflow.repository import commit

    if arguments.name == ALL:
        return _run_all(arguments.options)
    if arguments.name == GPU:
        return _run_gpu(arguments.options)
    module = load(arguments.name)
    options = vars(_parser_of_module(arguments.name, module).parse_args(arguments.options))
    as_json, markdown = options.pop("json"), options.pop("markdown")
    if markdown:
        check_page(markdown)
    signature = conditions(getattr(module, "OPPONENTS", ()))
    found = Survey(options["rounds"], {"commit": commit(), **signature})
    rows = _kept(found, arguments.name, module.run(**options))
    if as_json:
        _print_list(rows, signature)
    else:
        print(f"{signature['hardware']}; {versions_line(signature['versions'])}", flush=True)
        for row in rows:
            print(shown(row), flush=True)
    if markdown:
        write_page(markdown, found, _command(arguments.name, arguments.options))
    return 0


def _command(name: str, options: list[str]) -> str:
    return shlex.join(["weebill", "benchmark", name, *options])


def _kept(found: "Survey", name: str, rows: "Iterable[Row | Table]") -> "Iterator[Row | Table]":
    """Yield the rows and tables of a benchmark, and add them to `found`."""
    for row in rows:
        found.add(name, row)
        yield row


def _run_all(options: list[str]) -> int:
    """Run every benchmark, then compare with published figures; return 1 if one failed, but not if one was slow."""
    from weebill.benchmarks.page import check_page, write_page
    from weebill.benchmarks.survey import Survey, changes, survey
    from weebill.files import write_json

    given = parser_of(ALL).parse_args(options)
    published = Survey.read(given.against) if given.against else None
    if given.markdown:
        check_page(given.markdown)

    def save(found: Survey) -> None:
        if given.json:
            write_json(given.json, found)

    stopped = Survey.read(given.json) if given.json and given.json.exists() else None
    found = survey(given.rounds, save, stopped=stopped)
    if given.markdown:
        write_page(given.markdown, found, _command(ALL, options))
    for line in changes(found, published) if published else ():
        print(line)
    return 1 if found.failed else 0


def _run_gpu(options: list[str]) -> int:
    """Measure a GPU, print a line for each figure and write all of them; return 1 if a setting failed."""
    from weebill.benchmarks import gpu
    from weebill.benchmarks.gpu_figures import Found, rates_for_estimates, together, unrated
    from weebill.files import check_file, read_json, write_json
    from weebill.kernels.accelerator import check_device

    given = parser_of(GPU).parse_args(options)

    def save(found: Found) -> None:
        if given.json:
            write_json(given.json, found)

    if given.measured:
        content = read_json(given.measured)
        try:
            found = together([content.get("benchmark", content)])
        except (AttributeError, KeyError, TypeError) as error:
            remedy = "name a file of `weebill benchmark gpu --json FILE`"
            raise InputError(f"{given.measured}: holds no figures of a GPU; {remedy}") from error
    else:
        for file in filter(None, (given.json, given.rates)):
            check_file(file)
        if given.rates and (missing := unrated(given.parts)):
            raise InputError(f"--rates: needs --parts {' '.join(sorted(missing))} too")
        check_device(given.device)
        found = gpu.measure(
            given.device, given.rounds, given.seconds, given.parts, given.commit, save
        )
    if given.rates:
        write_json(given.rates, rates_for_estimates(found))
    for name in found.left_out:
        print(f"{name}: not measured, the time was over; raise --seconds")
    return 1 if found.failures else 0


def _print_list(rows: "Iterable[Row | Table]", signature: dict[str, Any]) -> None:
    """Print a JSON list row by row, so that a run that fails late has printed its earlier rows."""
    before = "[\n"
    for row in rows:
        record = row.to_dict() if isinstance(row, Row) else asdict(row)
        print(before + json.dumps(record | signature, indent=2), end="", flush=True)
        before = ",\n"
    print("[]" if before == "[\n" else "\n]")


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of a benchmark's options."""
    if name == ALL:
        return _all_parser()
    if name == GPU:
        return _gpu_parser()
    return _parser_of_module(name, import_module(f"weebill.benchmarks.{name}"))


def _parser_of_module(name: str, module: ModuleType) -> argparse.ArgumentParser:
    parser = _parser(name, module.__doc__)
    parser.add_argument(
        "--json", action="store_true", help="print a JSON list: an object for each claim or table"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help=PAGE)
    add_options(parser, module.run)
    return parser


def _all_parser() -> argparse.ArgumentParser:
    parser = _parser(
        ALL, "Run every benchmark that this machine can run, in its smallest meaningful setting."
    )
    add = parser.add_argument
    add(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the figures and their signature there; if it is of a stopped run of the same code, only the "
        "benchmarks that it lacks are run",
    )
    add("--markdown", type=Path, metavar="FILE", help=PAGE)
    add("--against", type=Path, metavar="FILE",
        help="print the ratios to the figures in this file, which --json wrote earlier")  # fmt: skip
    return parser


def _gpu_parser() -> argparse.ArgumentParser:
    from weebill.benchmarks import gpu

    parser = _parser(GPU, gpu.__doc__)
    parser.set_defaults(rounds=3)
    add = parser.add_argument
    add("--json", type=Path, metavar="FILE",
        help="write figures, versions, card and failures to this file")  # fmt: skip
    add("--rates", type=Path, metavar="FILE",
        help="write the card's rates, which estimates of cost read, to this file")  # fmt: skip
    add(
        "--measured",
        type=Path,
        metavar="FILE",
        help="take the figures for --rates from this file, which --json wrote earlier; measure nothing",
    )
    add(
        "--device",
        choices=("cuda", "cpu"),
        default="cuda",
        help="cuda is the first card that CUDA_VISIBLE_DEVICES shows, cpu rehearses in tiny sizes; default cuda",
    )
    add("--seconds", type=positive, default=200, metavar="N",
        help="seconds after which no further setting begins; default 200")  # fmt: skip
    add("--commit", metavar="TEXT", help="commit of this code, for a copy without its history")
    add("--parts", nargs="+", choices=gpu.PARTS, default=gpu.PARTS,
        help="parts to measure; by default all")  # fmt: skip
    return parser


def _parser(name: str, description: str | None) -> argparse.ArgumentParser:
    parser = Parser(prog=f"weebill benchmark {name}", description=description)
    parser.add_argument("--rounds", type=positive, default=5, metavar="N",
        help="rounds, in which both sides take turns; default %(default)s")  # fmt: skip
    return parser
