"""Check an experiment: its configuration, the files that it reads, and an estimate of its cost."""

import argparse
import shutil
import sys
from pathlib import Path

from weebill.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `weebill check`."""
    parser.add_argument("configs", nargs="+", metavar="CONFIG", help="config/NAME.yaml")


def run(arguments: argparse.Namespace) -> int:
    """Print what a run would report first; return 1 for a fault, a missing or unreadable file or an unfit model."""
    from weebill.configuration.checking import check, estimate, missing_files, unfit_models
    from weebill.configuration.cleaning_sample import sample_texts
    from weebill.configuration.defaults import shortened
    from weebill.configuration.schedules import long_finetunings
    from weebill.configuration.schema import load_schema
    from weebill.yaml_files import read_yaml

    code = 0
    for path in arguments.configs:
        try:
            given = read_yaml(path)
            config = check(given, path)
        except InputError as error:
            print(error, file=sys.stderr)
            code = 1
            continue
        unreadable, warnings = sample_texts(config)
        for line in [*missing_files(config), *unfit_models(config), *unreadable]:
            print(f"{path}: {line}", file=sys.stderr)
            code = 1
        for line in warnings:
            print(f"{path}: {line}", file=sys.stderr)
        results = Path("results") / config["experiment"]
        print("\n".join(estimate(config).lines(results, shutil.disk_usage(".").free)))
        schedules = shortened(given, load_schema(config["kind"]))
        for line in (*schedules, *long_finetunings(config)):
            print(f"  {line}")
    return code
