"""Rows of an experiment's texts: faults of unreadable ones, warnings of losses in cleaning and of references."""

from collections import deque
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any
from unicodedata import is_normalized

from weebill.configuration.schema import Config
from weebill.corpus.download import is_url
from weebill.corpus.importers.entries import importer_from
from weebill.corpus.sources import Places
from weebill.errors import InputError, key_path
from weebill.experiment.corpora import Entry, entries
from weebill.experiment.scores import section_of

ROWS = 5000  # rows cleaned of each corpus
# Bytes of files that are read to their end, in some seconds; of larger ones, ROWS are read.
WHOLE = 1 << 27
NOT_COMPOSED = 0.01  # share of a test set's references; a larger one is told


def sample_texts(config: Config) -> tuple[list[str], list[str]]:
    """Return a line for each text that cannot be read, and warnings of filters and of references.

    This reads the texts of a checked translation experiment whose files are here: embedded texts, the user's own, and
    public texts that an earlier run has made; of large files it reads a part.  A filter is told if it drops more
    than a third of the first rows of a parallel corpus.  The language identifier is used if it is a file.
    """
    faults, warnings, whole = [], [], set()
    for entry in entries(config) if config["kind"] == "translation" else ():
        if not _is_here(entry.values):
            continue
        key = key_path(entry.path)
        try:
            pairs = _first_rows(entry, config, whole)
            if entry.path[0] == "corpora" and entry.monolingual is None:
                lines = _losses(pairs, config, str(entry.path[1]))
                warnings += [f"{key}: of its first rows, {line}" for line in lines]
            elif entry.path[0] == "test_sets":
                warnings += [f"{key}: {line}" for line in _references(pairs)]
        except InputError as error:
            faults.append(f"{key}: {error}")
    return faults, warnings


def _is_here(values: Config) -> bool:
    importer = importer_from(values)
    fetched = any(is_url(values[key]) for key in importer.file_keys() if key in values)
    files = importer.local_files()
    here = bool(files) and not fetched and all(Path(file).is_file() for file in files)
    return here or values["importer"] == "tatoeba"


def _first_rows(entry: Entry, config: Config, whole: set[tuple[str, ...]]) -> list[Any]:
    """Return the first rows; read small files to their end, once: those in `whole` have been."""
    languages = (config["languages"]["source"], config["languages"]["target"])
    importer, places = importer_from(entry.values), Places()
    sources = importer.sources(languages, entry.monolingual, places)
    sources = [replace(source, path=places.path(source)) for source in sources]
    rows, lines = (
        importer.read(sources, languages, entry.monolingual),
        entry.values.get("lines", {}),
    )
    first = lines.get("first", 1)
    found = list(islice(rows, min(ROWS, lines.get("last", first + ROWS) - first + 1)))
    files = tuple(importer.local_files())
    if files and files not in whole and sum(Path(file).stat().st_size for file in files) <= WHOLE:
        whole.add(files)
        deque(rows, maxlen=0)
    return found


def _references(pairs: list[Any]) -> list[str]:
    """Return a line if references have letters in a form of Unicode that no translation has."""
    count = sum(not is_normalized("NFC", target) for _, target, *_ in pairs)
    if count <= NOT_COMPOSED * len(pairs):
        return []
    return [
        f"{count:,} of its {len(pairs):,} references are not in Unicode's composed form (NFC), as translations are, "
        "which costs even perfect ones BLEU; convert them, unless scores are compared with published ones"
    ]


def _losses(pairs: list[Any], config: Config, name: str) -> list[str]:
    from weebill.corpus.cleaning.language_id import LanguageId, LanguageIdentifier
    from weebill.corpus.cleaning.losses import losses_of_sample
    from weebill.corpus.cleaning.pairs import Context
    from weebill.corpus.cleaning.rules import Rules

    languages = (config["languages"]["source"], config["languages"]["target"])
    cleaning = section_of(config, name, "cleaning")
    identifier, given = None, cleaning.get("language_id", {})
    if Path(given.get("model", "")).is_file():
        identifier = LanguageIdentifier(LanguageId(**given), languages)
    context = Context(Rules(**cleaning["rules"]), identifier)
    return losses_of_sample(pairs, languages, context, cleaning.get("punctuation"))
