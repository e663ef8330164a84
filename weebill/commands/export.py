"""Write the rows of a table as text, one segment per line; files named .gz or .zst are compressed."""

import argparse

from weebill.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="a .parquet file or a folder of shards")
    parser.add_argument("--source", metavar="FILE", help="file for the source side")
    parser.add_argument("--target", metavar="FILE", help="file for the target side")
    parser.add_argument(
        "--all", action="store_true", help="write the rows that cleaning dropped, too"
    )


def run(arguments: argparse.Namespace) -> int:
    """Export one or both sides.  Raises InputError if a side is missing."""
    sides = {"source": arguments.source, "target": arguments.target}
    files = {side: path for side, path in sides.items() if path is not None}
    if not files:
        raise InputError("export: name --source FILE, --target FILE, or both")
    from weebill.corpus.export import export_text  # loads Arrow

    rows = export_text(arguments.table, files, kept=not arguments.all)
    print(f"{rows:,} rows to {' and '.join(files.values())}")
    return 0
