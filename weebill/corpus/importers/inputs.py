"""Inputs of corpus entries, and the keys that determine their rows, for rules of the workflow."""

from pathlib import Path
from typing import Any

from weebill.corpus.importers.entries import Entries, importer_from, noise_sources, several
from weebill.corpus.tatoeba import NAME as EMBEDDED
from weebill.experiment.origins import is_made

# Keys of an entry that do not change the imported rows.
NOT_CONTENTS = ("rows", "local_dir", "cleaning", "back_translation", "distillation")


def reads_files(entries: Entries) -> bool:
    """Return True if the entries need any file that is not part of the library."""
    return any(entry["importer"] != EMBEDDED or noise_sources(entry) for entry in several(entries))


def local_inputs(entries: Entries) -> list[str]:
    """Return the entries' local files that exist or are made; a run reports missing ones when it starts."""
    files = [file for entry in several(entries) for file in importer_from(entry).local_files()]
    files += [source.place for entry in several(entries) for source in noise_sources(entry)]
    return [file for file in files if Path(file).is_file() or is_made(file)]


def contents(entries: Entries) -> list[dict[str, Any]]:
    """Return for each entry the keys and values that determine its rows: all except NOT_CONTENTS."""
    return [
        {key: value for key, value in entry.items() if key not in NOT_CONTENTS}
        for entry in several(entries)
    ]
