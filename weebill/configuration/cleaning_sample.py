"""Cleaning of the first rows of an experiment's corpora, to warn of settings that do not fit them before a run."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

from weebill.configuration.schema import Config
from weebill.corpus.importers.entries import importer_from
from weebill.corpus.sources import Places
from weebill.errors import InputError
from weebill.experiment.scores import section_of

ROWS = 5000  # cleaned of each corpus


def cleaning_warnings(config: Config) -> list[str]:
    """Return a line for each filter that drops more than a third of the first rows of a corpus.

    Read are the parallel corpora of a checked translation experiment whose files are here: those that are embedded,
    the user's own, and public texts that an earlier run has made.  The language identifier is asked if it is a file.
    """
    if config["kind"] != "translation":
        return []
    return [
        f"corpora.{name}: of its first rows, {line}"
        for name, entry in config["corpora"].items()
        if entry["use"] == "parallel" and _is_here(entry)
        for line in _losses(config, name)
    ]


def _is_here(entry: Config) -> bool:
    importer = importer_from(entry)
    named = [entry[key] for key in importer.file_keys() if key in entry]
    files = importer.local_files()
    here = files and len(files) == len(named) and all(Path(file).is_file() for file in files)
    return bool(here) or entry["importer"] == "tatoeba"


def _losses(config: Config, name: str) -> list[str]:
    from weebill.corpus.cleaning.language_id import LanguageId, LanguageIdentifier
    from weebill.corpus.cleaning.losses import losses_of_sample
    from weebill.corpus.cleaning.pairs import Context
    from weebill.corpus.cleaning.rules import Rules

    languages = (config["languages"]["source"], config["languages"]["target"])
    cleaning, importer = (
        section_of(config, name, "cleaning"),
        importer_from(config["corpora"][name]),
    )
    identifier, given = None, cleaning.get("language_id", {})
    try:
        if Path(model := given.get("model", "")).is_file():
            identifier = LanguageIdentifier(LanguageId.of(given, model), languages)
        places = Places()
        sources = importer.sources(languages, None, places)
        sources = [replace(source, path=places.path(source)) for source in sources]
        pairs = list(islice(importer.read(sources, languages, None), ROWS))
    except InputError as error:
        return [f"the text cannot be read: {error}"]
    if not pairs:
        return []
    context = Context(Rules(**cleaning["rules"]), identifier)
    return losses_of_sample(pairs, languages, context, cleaning.get("punctuation"))
