"""Entries of a configuration that name corpora: their importers and files."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, get_args, get_type_hints

from weebill.corpus.importers import Importer, Languages, Sources
from weebill.corpus.sources import Places, Source
from weebill.corpus.tatoeba import NAME as EMBEDDED
from weebill.errors import InputError, nearest
from weebill.registry import Registry
from weebill_runtime.names import Side

# Keys of an entry that are not passed to its importer.
OF_THE_CORPUS = ("importer", "use", "noise", "rows", "cleaning", "back_translation", "distillation")

Entries = Mapping[str, Any] | list[Mapping[str, Any]]  # one entry of the configuration, or several

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
    name = entry.get("importer")
    if name not in IMPORTERS:
        message = f"no importer '{name}'{nearest(name, IMPORTERS)}; one of {list(IMPORTERS)}"
        raise InputError(message)
    kind = IMPORTERS[name]
    keys = {key: value for key, value in entry.items() if key not in OF_THE_CORPUS}
    hints, known = get_type_hints(kind), [field.name for field in fields(kind)]
    try:
        for key, value in keys.items():
            if key not in known:
                raise InputError(f"importer {name}: unknown key '{key}'{nearest(key, known)}")
            for section in filter(is_dataclass, (hints[key], *get_args(hints[key]))):
                keys[key] = section(**value)
        return kind(**keys)
    except TypeError as error:
        raise InputError(f"importer {name}: {error}") from error


def sources_of(
    entry: Mapping[str, Any], languages: Languages, monolingual: Side | None, places: Places
) -> Sources:
    """Return all files of an entry, including those of its noise.  Raises the same errors as `sources`."""
    found = importer_from(entry).sources(languages, monolingual, places)
    return [*found, *noise_sources(entry)]


def noise_sources(entry: Mapping[str, Any]) -> list[Source]:
    """Return the files of an entry's noise."""
    files = entry.get("noise", {}).get("other_languages", ())
    return [Source(path, name=path) for path in files if path != EMBEDDED]


def several(entries: Entries) -> list[Mapping[str, Any]]:
    """Return the entries as a list."""
    return [entries] if isinstance(entries, Mapping) else entries


def places_of(entry: Mapping[str, Any], places: Places) -> Places:
    """Return `places` with the entry's own `local_dir`, if it has one."""
    return replace(places, local_dir=entry.get("local_dir", places.local_dir))
