"""Importers of corpora.

Each is a dataclass whose fields are its configuration keys, and yields rows.  To add an importer, write a class with
`local_files`, `sources` and `rows` in a new module, enter the class in IMPORTERS, and add its keys to
configuration/sections/corpora.py.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from weebill.corpus.sources import Places, Source
from weebill.corpus.table import SCHEMA, ShardWriter, TableWriter
from weebill.corpus.tatoeba import NAME as EMBEDDED
from weebill.errors import InputError, nearest
from weebill.experiment.corpora import Side
from weebill.experiment.origins import is_made
from weebill.registry import Registry

log = logging.getLogger(__name__)

BATCH_ROWS = 8192
# Keys of an entry that do not change the imported rows.
NOT_CONTENTS = ("rows", "local_dir", "cleaning", "back_translation", "distillation")
# Keys of an entry that are not passed to its importer.
OF_THE_CORPUS = ("importer", "use", "noise", *NOT_CONTENTS)


class Importer(Protocol):
    """Interface of all importers.

    languages: codes of the source and the target language.
    monolingual: the only side of monolingual text, or None for parallel text.
    """

    def local_files(self) -> list[str]:
        """Return the user's own files that the importer reads."""

    def sources(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> list[Source]:
        """Return all files that the importer reads.  Raises InputError if they cannot be determined."""

    def rows(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> Iterator[tuple]:
        """Yield source and target of each row in order; a missing side is None."""


IMPORTERS: Registry[type[Importer]] = Registry(
    {
        "files": "weebill.corpus.importers.files:FilesImporter",
        "hugging_face": "weebill.corpus.importers.hugging_face:HuggingFaceImporter",
        "mtdata": "weebill.corpus.importers.mtdata:MtdataImporter",
        "opus": "weebill.corpus.importers.opus:OpusImporter",
        "sacrebleu": "weebill.corpus.importers.sacrebleu_sets:SacrebleuImporter",
        "tatoeba": "weebill.corpus.importers.tatoeba:TatoebaImporter",
    }
)


def importer_from(entry: Mapping[str, Any]) -> Importer:
    """Make the importer of a corpus entry of the configuration; the keys OF_THE_CORPUS are ignored.

    Raises InputError if the importer or one of its keys is unknown.
    """
    keys = {key: value for key, value in entry.items() if key not in OF_THE_CORPUS}
    name = entry.get("importer")
    if name not in IMPORTERS:
        raise InputError(
            f"no importer '{name}'{nearest(name, IMPORTERS)}; one of {list(IMPORTERS)}"
        )
    kind = IMPORTERS[name]
    known = [key.name for key in fields(kind)]
    for key in keys:
        if key not in known:
            raise InputError(f"importer {name}: unknown key '{key}'{nearest(key, known)}")
    try:
        return kind(**keys)
    except TypeError as error:
        raise InputError(f"importer {name}: {error}") from error


def sources_of(
    entry: Mapping[str, Any], languages: tuple[str, str], monolingual: Side | None, places: Places
) -> list[Source]:
    """Return all files of an entry, including those of its noise.  Raises the same errors as `sources`."""
    found = importer_from(entry).sources(languages, monolingual, places)
    return [*found, *_noise_sources(entry)]


def _noise_sources(entry: Mapping[str, Any]) -> list[Source]:
    files = entry.get("noise", {}).get("other_languages", ())
    return [Source(path, name=path) for path in files if path != EMBEDDED]


Entries = Mapping[str, Any] | list[Mapping[str, Any]]  # one entry of the configuration, or several


def reads_files(entries: Entries) -> bool:
    """Return True if the entries need any file that is not part of the library."""
    return any(
        entry["importer"] != EMBEDDED or _noise_sources(entry) for entry in _several(entries)
    )


def local_inputs(entries: Entries) -> list[str]:
    """Return the local files of the entries that exist or are made; a run reports the missing ones at its start."""
    files = [file for entry in _several(entries) for file in importer_from(entry).local_files()]
    files += [source.place for entry in _several(entries) for source in _noise_sources(entry)]
    return [file for file in files if Path(file).is_file() or is_made(file)]


def contents(entries: Entries) -> list[dict[str, Any]]:
    """Return the keys and values of each entry that determine its rows, without NOT_CONTENTS."""
    return [
        {key: value for key, value in entry.items() if key not in NOT_CONTENTS}
        for entry in _several(entries)
    ]


def _several(entries: Entries) -> list[Mapping[str, Any]]:
    return [entries] if isinstance(entries, Mapping) else entries


def import_corpus(
    path: str | Path,
    name: str,
    entries: Entries,
    languages: tuple[str, str],
    monolingual: Side | None = None,
    shard_rows: int | None = None,
    places: Places | None = None,
) -> int:
    """Import one or several entries of the configuration, one after the other, into a table.

    path: a folder of shards of `shard_rows` rows, or one file if `shard_rows` is None.
    monolingual: the only side that is read, or None if both are read.
    places: the folders for fetched files; an entry's own `local_dir` replaces that of `places`.
    Returns the number of rows, on which memory does not depend.  Raises the importers' InputErrors with the
    corpus' name; `path` is not written then.
    """
    try:
        several = _several(entries)
        importers = [importer_from(entry) for entry in several]
        schema = SCHEMA
        if any("noise" in entry for entry in several):
            schema = SCHEMA.append(pa.field("noise", pa.string()))
        make = (
            TableWriter(path, schema)
            if shard_rows is None
            else ShardWriter(path, schema, shard_rows)
        )
        with make as writer:
            for entry, importer in zip(several, importers, strict=True):
                start = 0
                own = places_of(entry, places or Places())
                rows = importer.rows(languages, monolingual, own)
                if "noise" in entry:
                    from weebill.corpus.injected_noise import InjectedNoise, inject

                    files = [own.path(source) for source in _noise_sources(entry)]
                    rows = inject(rows, InjectedNoise(**entry["noise"]), files)
                while batch := list(islice(rows, BATCH_ROWS)):
                    writer.write(_batch(batch, name, start, schema))
                    start += len(batch)
    except InputError as error:
        raise InputError(f"corpus '{name}': {error}") from error
    log.info("corpus '%s': %s rows imported", name, f"{writer.rows:,}")
    return writer.rows


def places_of(entry: Mapping[str, Any], places: Places) -> Places:
    """Return `places` with the entry's own `local_dir`, if it has one."""
    return replace(places, local_dir=entry.get("local_dir", places.local_dir))


def _batch(rows: list[tuple], name: str, start: int, schema: pa.Schema) -> pa.Table:
    columns = {
        "source": [row[0] for row in rows],
        "target": [row[1] for row in rows],
        "corpus": [name] * len(rows),
        "row": range(start, start + len(rows)),
        "dropped_by": pa.nulls(len(rows), pa.string()),
        "noise": [row[2] if len(row) > 2 else None for row in rows],
    }
    return pa.table({key: columns[key] for key in schema.names}, schema=schema)
