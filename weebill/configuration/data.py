"""Checks of the data that an experiment names: keys of importers, languages, overlaps."""

from collections.abc import Iterator
from itertools import starmap

from weebill.configuration.schema import Config, Fault, at
from weebill.corpus import tatoeba
from weebill.corpus.download import is_url
from weebill.corpus.importers import FromFiles, Importer, apart, lines_fault
from weebill.corpus.importers.entries import IMPORTERS
from weebill.corpus.sources import address_faults
from weebill.errors import key_path
from weebill.experiment.corpora import Entry, entries
from weebill.experiment.zoo import Zoo
from weebill.files import sha256_text

HELD_OUT_FIRST = ("validation", "test_sets", "corpora")


def complete(config: Config, broken: set[str]) -> None:
    """Fill in the seeds of noise, derived from the experiment's seed and their key path, and embedded text's `skip`.

    An entry of embedded text without `skip` gets the pairs after those of the previous entry.  Validation and test
    sets come first, so that a longer corpus does not change them.
    """
    end = 0
    for entry in entries(config, [name for name in HELD_OUT_FIRST if name not in broken]):
        if entry.values["importer"] == tatoeba.NAME:
            end = entry.values.setdefault("skip", end) + entry.values["pairs"]
        if "noise" in entry.values:
            text = f"{config.get('seed')} {key_path((*entry.path, 'noise'))}"
            entry.values["noise"].setdefault("seed", int(sha256_text(text)[:8], 16))


def local_places(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield the key path and the path of every local file or folder that an entry names."""
    for key in (*_importer(entry).file_keys(), "local_dir"):
        if key in entry.values and not is_url(entry.values[key]):
            yield key_path((*entry.path, key)), entry.values[key]


def _importers(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for entry in entries(config):
        yield from starmap(Fault, _importer(entry).faults(entry))
        yield from starmap(Fault, lines_fault(entry))


def _importer(entry: Entry) -> type[Importer]:
    return IMPORTERS[entry.values["importer"]]


def _noise(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for entry in entries(config, ["corpora"]):
        found, place = entry.values.get("noise"), (*entry.path, "noise")
        if found and entry.monolingual:
            yield Fault(place, "found in a monolingual corpus, expected none: it damages pairs")
        if found and ("wrong_language" in found["kinds"]) != bool(found["other_languages"]):
            other = "found without" if found["other_languages"] else "missing beside"
            message = f"{other} the kind wrong_language, expected both or neither"
            yield Fault((*place, "other_languages"), message)


def _identifier(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for place, found in at(config, "cleaning.language_id"):
        checksum = (*place, "sha256"), found.get("sha256")
        yield from starmap(Fault, address_faults((*place, "model"), found["model"], *checksum))


def _languages(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for embedded text in another language pair, and for noise in the experiment's languages."""
    pair = (config["languages"]["source"], config["languages"]["target"])
    own = [name for name in tatoeba.OTHER_LANGUAGES if name in pair]
    for place, others in at(config, "corpora.*.noise.other_languages"):
        if own and tatoeba.NAME in others:
            found = f"found {own[0]} among the experiment's languages"
            yield Fault(place, f"tatoeba: {found}, expected files of others")
    if pair == tatoeba.PAIR_LANGUAGES or pair[0] == pair[1]:
        return  # another check reports equal languages
    named = [((*one.path, "importer"), one.values["importer"]) for one in entries(config)]
    found = f"found languages {pair[0]} to {pair[1]}, expected en to de, the only ones it knows"
    for place, name in [*named, *at(config, "cleaning.language_id.model")]:
        if name == tatoeba.NAME:
            yield Fault(place, f"tatoeba: {found}")


def _published(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each data set that sacreBLEU, mtdata or OPUS lacks, in general or in these languages."""
    pair = (config["languages"]["source"], config["languages"]["target"])
    for entry in entries(config):
        yield from starmap(Fault, _importer(entry).unpublished(entry, pair))


def _overlaps(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for data used both to train and to test or validate; cleaning also compares single sentences."""
    origins = {entry.path: _importer(entry).origins(entry.values) for entry in entries(config)}
    tests, training = (list(entries(config, [section])) for section in ("test_sets", "corpora"))
    pairs = [(test, other, "training data") for test in tests for other in training]
    for entry in entries(config, ["validation"]):
        pairs += [(entry, other, "training data") for other in training]
        if not config["validation_may_overlap_tests"]:
            pairs += [(entry, other, "a test set") for other in tests]
    for entry, other, role in pairs:
        hint = " or lines" if issubclass(_importer(entry), FromFiles) else ""
        hint += " (validation_may_overlap_tests: true permits it)" if role == "a test set" else ""
        if apart(entry.values, other.values):
            continue
        for common in sorted(origins[entry.path] & origins[other.path])[:1]:
            found = f"found {common}, which is {role} too ({key_path(other.path)})"
            yield Fault(entry.path, f"{found}, expected other data{hint}")


CHECKS = (_importers, _languages, _published, _overlaps, _noise, _identifier)
