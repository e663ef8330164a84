"""Files that a configuration fetches: originals of public texts, corpora, data sets, models."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from weebill.configuration.schema import at
from weebill.corpus.download import base_name, is_url
from weebill.corpus.importers.entries import places_of, sources_of
from weebill.corpus.importers.hugging_face import HuggingFaceImporter
from weebill.corpus.origins import origin
from weebill.corpus.sources import Places, Source
from weebill.errors import InputError, Key, key_path
from weebill.experiment.corpora import entries
from weebill.experiment.origins import is_made, name_of
from weebill.experiment.translating_models import may_be_on_hub
from weebill.hugging_face.hub import model_sources

Config = dict[str, Any]


def bleu_targets(config: Config) -> list[str]:
    """Return the tokenizer, or else the languages, that determine the tokens of an experiment's BLEU (see `bleu`)."""
    chosen = config["bleu"].get("tokenizer")
    return [chosen] if chosen else list(config["languages"].values())


def missing_tokenizers(config: Config) -> list[str]:
    """Return a line for each BLEU of an experiment whose tokenizer is missing and cannot be fetched."""
    from weebill.bleu import bleu  # loads sacreBLEU

    places = Places(*(config.get(key) for key in ("local_dir", "download_cache", "mirror")))
    found = []
    for target in bleu_targets(config) if config["kind"] == "translation" else ():
        try:
            bleu(target, places)
        except InputError as error:
            found.append(str(error))
    return found


def remote_sources(config: Config, places: Places) -> tuple[list[Source], list[str]]:
    """Return every file that a checked configuration fetches by its address, each once.

    The second list has a line for each key with unknown files, because a hub or an index cannot be reached or does
    not know the name.
    """
    found: dict[str, Source] = {}
    unknown = []
    for key, asked in _asked(config, places):
        try:
            for source in asked():
                if is_url(source.place) and source.path is None:
                    found.setdefault(source.place, source)
        except InputError as error:
            unknown.append(f"{key}: {error}")
    return list(found.values()), unknown


def _asked(config: Config, places: Places) -> Iterator[tuple[str, Callable[[], Iterable[Source]]]]:
    """Yield each key that names files, and a function that returns their sources."""
    if config["kind"] == "translation":
        languages = config["languages"]["source"], config["languages"]["target"]
        for entry in entries(config):
            own = places_of(entry.values, places)
            asked = partial(sources_of, entry.values, languages, entry.monolingual, own)
            yield key_path(entry.path), asked
        from weebill.bleu import PIECES, tokenizer_of  # loads sacreBLEU

        if "flores200" in map(tokenizer_of, bleu_targets(config)):
            yield "bleu.tokenizer", lambda: [PIECES]
    for path, name in at(config, "evaluation.comet.model", "reference.checkpoint"):
        if may_be_on_hub(name) and not Path(name).exists():
            yield key_path(path), partial(_left_to_the_hub, name)
    for path, values in _mappings(config):
        yield key_path(path), partial(_named, values, config["origins"], places)


def _left_to_the_hub(name: str) -> NoReturn:
    """Raise InputError for a COMET checkpoint given by its name, because only its library knows the files."""
    raise InputError(
        f"{name}: fetched by the job that reads it; for a machine without a network name a folder with it"
    )


def _mappings(values: Any, path: tuple[Key, ...] = ()) -> Iterator[tuple[tuple[Key, ...], Config]]:
    """Yield the path and the content of every mapping in nested values; a list counts as a mapping by index."""
    if isinstance(values, list):
        values = dict(enumerate(values))
    if isinstance(values, Mapping):
        yield path, values
        for key, value in values.items():
            yield from _mappings(value, (*path, key))


def _named(values: Mapping[Key, Any], own: Config, places: Places) -> Iterator[Source]:
    """Yield the sources that keys of a mapping name: public texts, addresses, and names on the hub."""
    if {"name", "revision"} <= values.keys() and "importer" not in values:
        known = ("name", "revision", "config", "split")
        asked = {key: values[key] for key in known if key in values}
        data_set = HuggingFaceImporter(**asked, source_field="text")  # any field has these files
        yield from data_set.sources(("", ""), "source", places)
    sha256 = values.get("sha256")
    for key, value in values.items():
        if not isinstance(value, str):
            continue
        if isinstance(key, str) and is_url(key):  # from `published.files`
            yield Source(key, name=base_name(key), sha256=value)
        if is_made(value):
            yield from origin(name_of(value), own).sources(places)
        elif is_url(value) and isinstance(sha256, str):
            yield Source(value, name=Path(value).name, sha256=sha256)
        elif key == "hugging_face" and "revision" in values:
            yield from model_sources(value, values["revision"], places).values()
