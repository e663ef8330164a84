"""The lock file of an experiment: what its corpora were read from, to be compared in every later run."""

import logging
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weebill.corpus.download import is_url
from weebill.corpus.importers import places_of, sources_of
from weebill.corpus.sources import Places, Source
from weebill.errors import InputError
from weebill.experiment.corpora import Side
from weebill.files import read_json, sha256_file, write_json

log = logging.getLogger(__name__)

LICENCE_FILES = ("LICENSE", "LICENCE")  # members of OPUS' archives
LICENCE_LENGTH = 200  # characters of a licence's first line that are kept


def write_lock(
    path: str | Path,
    entries: Iterable[tuple[str, Mapping[str, Any], Side | None]],
    languages: tuple[str, str],
    places: Places,
) -> None:
    """Fetch every source of the entries, and write what each is: {"sources": {key: [record, …]}}.

    entries: (key, entry, the side that monolingual text has); the key is its place in the configuration, such as
    corpora.news.  A record has `name`, `place` (path or URL), `sha256` and `bytes`, and where they are known
    `version`, `licence` and, of what was fetched, `fetched` (the day, UTC).
    Where the file is there already, its sources must be the same as then: raises InputError for one that
    changed, and leaves the file as it was.  Entries that are gone are taken out.
    """
    places = locked_places(path, places)
    sources = {}
    for key, entry, monolingual in entries:
        own = places_of(entry, places)
        try:
            found = sources_of(entry, languages, monolingual, own)
            records = [_record(source, own) for source in found]
        except InputError as error:
            raise InputError(f"{key}: {error}") from error
        if records:
            sources[key] = records
    write_json(path, {"sources": sources})
    log.info("%s: %s sources", path, f"{sum(map(len, sources.values())):,}")


def locked_places(path: str | Path, places: Places) -> Places:
    """`places` with the checksums of a lock file, if it is there.  Raises InputError where it is damaged."""
    path = Path(path)
    if not path.is_file():
        return places
    try:
        records = [record for group in read_json(path)["sources"].values() for record in group]
        locked = {record["place"]: record["sha256"] for record in records}
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: no lock file of sources; remove it and run again") from error
    return replace(places, lock=str(path), locked=locked)


def _record(source: Source, places: Places) -> dict[str, Any]:
    path = places.path(source)
    known = {
        "name": source.name,
        "place": source.place,
        "version": source.version,
        "sha256": sha256_file(path),
        "bytes": path.stat().st_size,
        "licence": source.licence or _licence_in(path),
        "fetched": _day(path) if is_url(source.place) else None,
    }
    return {key: value for key, value in known.items() if value is not None}


def _day(path: Path) -> str:
    """The day on which a file came here; read from the file, so that equal runs write equal records."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()


def _licence_in(path: Path) -> str | None:
    """The first line of the licence that an archive brings."""
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        for name in set(archive.namelist()) & set(LICENCE_FILES):
            words = archive.read(name).decode("utf-8", errors="replace").split("\n")
            return next((line.strip()[:LICENCE_LENGTH] for line in words if line.strip()), None)
    return None
