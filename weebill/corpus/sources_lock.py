"""Lock file of an experiment: the sources of its corpora, with which every later run is compared."""

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
LICENCE_LENGTH = 200  # most characters of a licence's first line


def write_lock(
    path: str | Path,
    entries: Iterable[tuple[str, Mapping[str, Any], Side | None]],
    languages: tuple[str, str],
    places: Places,
) -> None:
    """Fetch every source of the entries, and write the lock file {"sources": {key: [record, …]}}.

    entries: (key, entry, the only side of monolingual text); the key is the entry's place in the configuration, such
    as corpora.news.  A record has `name`, `place` (path or URL), `sha256` and `bytes`; if known, also `version`,
    `licence` and, for a fetched file, `fetched` (the day, UTC).
    If the lock file exists, its sources must be unchanged: raises InputError for a changed source, and leaves the
    file as it was.  Entries that no longer exist are removed from the file.
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
    """Return `places` with the checksums of a lock file, if it exists.  Raises InputError if the file is damaged."""
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
    """Return the day on which a file was fetched, by its modification time; equal runs thus write equal records."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()


def _licence_in(path: Path) -> str | None:
    """Return the first line of the licence in an archive; None if there is none."""
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        for name in set(archive.namelist()) & set(LICENCE_FILES):
            words = archive.read(name).decode("utf-8", errors="replace").split("\n")
            return next((line.strip()[:LICENCE_LENGTH] for line in words if line.strip()), None)
    return None
