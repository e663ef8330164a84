"""Import of corpora into tables, and the lock file of their sources, which every later run is compared with."""

import logging
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from weebill.corpus.download import is_url
from weebill.corpus.importers import Languages, Rows
from weebill.corpus.importers.entries import (
    Entries,
    importer_from,
    noise_sources,
    places_of,
    several,
    sources_of,
)
from weebill.corpus.importers.reading import damage
from weebill.corpus.injected_noise import InjectedNoise, inject
from weebill.corpus.sources import Places, Source
from weebill.corpus.table import SCHEMA, ShardWriter, TableWriter
from weebill.errors import InputError, placed
from weebill.files import read_json, sha256_file, write_json
from weebill.text_files import Omitted
from weebill.workflow.progress import tell
from weebill_runtime.names import Side

log = logging.getLogger(__name__)

BATCH_ROWS = 8192
BATCH_CHARACTERS = 1 << 23  # a batch with long lines has fewer rows
OMITTED = "too_long"  # filter that drops a row with a line too long to be read
LICENCE_FILES = {"LICENSE", "LICENCE"}  # members of OPUS' archives
LICENCE_BYTES = 1 << 16  # bytes of a licence that are read
LICENCE_LENGTH = 200  # most characters of a licence's first line that are kept


def import_corpus(
    path: str | Path,
    name: str,
    entries: Entries,
    languages: Languages,
    monolingual: Side | None = None,
    shard_rows: int | None = None,
    places: Places | None = None,
) -> int:
    """Import one or several entries of the configuration, one after the other, into a table.

    path: a folder of shards of `shard_rows` rows, or one file if `shard_rows` is None.
    monolingual: the only side that is read, or None if both are read.  places: folders for fetched files.
    In shards, a line of more than LONGEST_LINE bytes is replaced by an empty text, and the filter `too_long` drops
    its row; in one file, such a line is an error.
    Returns the number of rows; memory does not depend on it.  Raises the importers' InputErrors with the corpus'
    name, and does not write `path` then.
    """
    with placed(f"corpus '{name}'"):
        importers = [(entry, importer_from(entry)) for entry in several(entries)]
        schema = SCHEMA
        if any("noise" in entry for entry, _ in importers):
            schema = SCHEMA.append(pa.field("noise", pa.string()))
        sharded = shard_rows is not None
        make = ShardWriter(path, schema, shard_rows) if sharded else TableWriter(path, schema)
        with make as writer:
            for entry, importer in importers:
                start, own = 0, places_of(entry, places or Places())
                sources = importer.sources(languages, monolingual, own)
                sources = [replace(source, path=own.path(source)) for source in sources]
                rows = importer.read(sources, languages, monolingual)
                if "noise" in entry:
                    files = [own.path(source) for source in noise_sources(entry)]
                    rows = inject(rows, InjectedNoise(**entry["noise"]), files)
                for batch in _batches(rows if sharded else _whole(rows)):
                    writer.write(_batch(batch, name, start, schema))
                    start += len(batch)
                    tell(start, None, "rows")
    log.info("corpus '%s': %s rows imported", name, f"{writer.rows:,}")
    return writer.rows


def _whole(rows: Rows) -> Rows:
    """Yield rows.  Raises InputError for a line that is too long."""
    for row in rows:
        for text in row:
            if isinstance(text, Omitted):
                raise text.refusal()
        yield row


def _batches(rows: Rows) -> Iterator[list[tuple]]:
    """Yield the rows in lists of at most BATCH_ROWS rows and about BATCH_CHARACTERS characters."""
    batch, size = [], 0
    for row in rows:
        batch.append(row)
        size += len(row[0] or "") + len(row[1] or "")
        if len(batch) == BATCH_ROWS or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _dropped_by(row: tuple) -> str | None:
    """Return the filter that drops a row during the import, because a line is too long; None for other rows."""
    for text in row:
        if isinstance(text, Omitted):
            log.warning("%s; the filter '%s' drops its row", text.fault, OMITTED)
            return OMITTED
    return None


def _batch(rows: list[tuple], name: str, start: int, schema: pa.Schema) -> pa.Table:
    columns = {
        "source": [row[0] for row in rows],
        "target": [row[1] for row in rows],
        "corpus": [name] * len(rows),
        "row": range(start, start + len(rows)),
        "dropped_by": [_dropped_by(row) for row in rows],
        "noise": [row[2] if len(row) > 2 else None for row in rows],
    }
    return pa.table({key: columns[key] for key in schema.names}, schema=schema)


def write_lock(
    path: str | Path,
    entries: Iterable[tuple[str, Mapping[str, Any], Side | None]],
    languages: Languages,
    places: Places,
) -> None:
    """Fetch every source of the entries, and write the lock file {"sources": {key: [record, …]}}.

    entries: (key, entry, the only side of monolingual text); the key is the entry's place in the configuration, such
    as corpora.news.  A record has `name`, `place` (path or URL), `sha256` and `bytes`; if known, also `version`,
    `licence` and, for a fetched file, `fetched` (the day, UTC).  Entries that no longer exist are removed.
    Raises InputError if a source differs from the present lock file, which is then not changed.
    """
    places = locked_places(path, places)
    sources = {}
    for key, entry, monolingual in entries:
        own = places_of(entry, places)
        with placed(key):
            found = sources_of(entry, languages, monolingual, own)
            records = [_record(source, own.path(source)) for source in found]
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


def _record(source: Source, path: Path) -> dict[str, Any]:
    # The day on which a file was fetched is its modification time, so that equal runs write equal records.
    day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    known = {
        "name": source.name,
        "place": source.place,
        "version": source.version,
        "sha256": sha256_file(path),
        "bytes": path.stat().st_size,
        "licence": source.licence or _licence_in(path),
        "fetched": day if is_url(source.place) else None,
    }
    return {key: value for key, value in known.items() if value is not None}


def _licence_in(path: Path) -> str | None:
    """Return the first line of the licence in an archive; None if there is none."""
    if not zipfile.is_zipfile(path):
        return None
    with damage(path, lambda: " in its licence"), zipfile.ZipFile(path) as archive:
        for name in LICENCE_FILES.intersection(archive.namelist()):
            with archive.open(name) as file:
                words = file.read(LICENCE_BYTES).decode("utf-8", errors="replace").split("\n")
            return next((line.strip()[:LICENCE_LENGTH] for line in words if line.strip()), None)
    return None
