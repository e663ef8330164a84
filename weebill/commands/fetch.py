"""Fetch every file that an experiment needs before it runs, or fill a mirror to carry to a machine without a network.

A mirror is a folder of files named by their checksums.  $WEEBILL_MIRROR, or the configuration's key `mirror`, names
one, which is searched before the network.
"""

import argparse
import fnmatch
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from weebill.corpus.origins import catalogue, origin
from weebill.corpus.sources import Places, Source
from weebill.errors import InputError
from weebill.experiment.origins import PREFIX
from weebill.files import MIB, atomic_path, sha256_file
from weebill.yaml_files import read_yaml

MISSING, FAILED = "missing", "not fetched"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `weebill fetch`."""
    add = parser.add_argument
    add("names", nargs="*", metavar="CONFIG", help="config/NAME.yaml; or origin:NAME, a public text to make in "
        "data/origins, where * stands for any letters")  # fmt: skip
    add("--list", action="store_true",
        help="list the public texts that a key can name as origin:NAME")  # fmt: skip
    add("--dry-run", action="store_true", help="only print what is here and what is missing")
    add("--mirror", type=Path, metavar="FOLDER",
        help="copy every file into this mirror")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Fetch the files; return 1 if one is missing or unknown.  Raises InputError for bad input."""
    if arguments.list:
        for name, text in catalogue().items():
            lines = "" if text.lines is None else f"{text.lines:,} lines"
            print(f"{name:56} {lines:>14}  {mebibytes(text.bytes):>9}  {text.licence}")
        return 0
    if not arguments.names:
        message = "fetch: name a configuration, such as config/multi30k.yaml, or give --list"
        raise InputError(message)
    return max([_fetch_all(name, arguments) for name in arguments.names])


def _fetch_all(name: str, arguments: argparse.Namespace) -> int:
    """Fetch the files of a configuration, or of public texts, which are also made; return the exit code."""
    if name.startswith(PREFIX):
        pattern, places = name.removeprefix(PREFIX), Places()
        found = fnmatch.filter(catalogue(), pattern) or [pattern]  # an error names the nearest
        texts = [origin(one) for one in found]
        sources = {one.place: one for text in texts for one in text.sources(places)}
        code = _fetch_files(list(sources.values()), places, arguments)
        if code == 0 and not arguments.dry_run:
            for text in texts:
                text.make(text.path, places)
        return code
    from weebill.configuration.checking import check
    from weebill.configuration.fetching import remote_sources

    config = check(read_yaml(name), name)
    places = Places(*(config.get(key) for key in ("local_dir", "download_cache", "mirror")))
    found, unknown = remote_sources(config, places)
    for line in unknown:
        print(f"weebill: {line}", file=sys.stderr)
    return max(_fetch_files(found, places, arguments), 1 if unknown else 0)


def _fetch_files(sources: Sequence[Source], places: Places, arguments: argparse.Namespace) -> int:
    """Fetch files and print a line about each, and their number; return 1 if one is missing."""
    if arguments.mirror and not arguments.dry_run:
        arguments.mirror.mkdir(parents=True, exist_ok=True)  # $WEEBILL_MIRROR may name it too
    states = [_fetch(source, places, arguments) for source in sources]
    total = sum(source.bytes or 0 for source in sources)
    counts = ", ".join(f"{count} {state}" for state, count in Counter(states).items())
    print(f"{len(sources)} files, {mebibytes(total)} or more: {counts or 'nothing to fetch'}")
    return 1 if {MISSING, FAILED} & set(states) else 0


def _fetch(source: Source, places: Places, arguments: argparse.Namespace) -> str:
    """Fetch one file, print a line about it, and return the first words of the line."""
    path, mirrored = places.here(source), places.mirrored(source)
    state = "here" if path else "in the mirror" if mirrored else MISSING
    if not arguments.dry_run:
        try:
            path = places.path(source)
            if arguments.mirror:
                _copy(source, path, arguments.mirror)
        except InputError as error:
            print(f"weebill: {error}", file=sys.stderr)
            state = FAILED
        else:
            state = "fetched" if state == MISSING else state
    known = path or mirrored
    size = known.stat().st_size if known else source.bytes
    shown = "" if size is None else mebibytes(size)
    words = (source.name, source.place, source.licence)
    print(f"{state:13} {shown:>10}  {'  '.join(word for word in words if word)}", flush=True)
    return state


def _copy(source: Source, path: Path, mirror: Path) -> None:
    """Copy the file of a source into a mirror, where it replaces a file with another checksum.

    Raises InputError if a folder has its name, or if two files differ and there is no checksum to decide.
    """
    place = mirror / (source.mirrored or source.sha256 or sha256_file(path))
    place = Places(mirror=str(mirror)).mirrored(source) or place  # perhaps with a suffix
    if place.is_dir():
        raise InputError(f"{place}: a folder stands where a file should; remove it and run again")
    if place.exists():
        if sha256_file(place) == sha256_file(path):
            return
        if source.mirrored and source.sha256 is None:
            raise InputError(
                f"{place}: differs from {path}; remove the one that is wrong and run again"
            )
    with atomic_path(place) as partial:
        shutil.copyfile(path, partial)


def mebibytes(count: int) -> str:
    """Return a size in MiB, with one decimal."""
    return f"{count / MIB:,.1f} MiB"
