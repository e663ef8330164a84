"""Checks of the data that an experiment names: keys of importers, languages, overlaps."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlparse

from weebill.configuration.schema import Fault, shown
from weebill.corpus import tatoeba
from weebill.corpus.download import is_url
from weebill.errors import Key, key_path, nearest
from weebill.experiment.corpora import (
    FILE_KEYS,
    SIDES,
    Entry,
    Side,
    entries,
    kind_of,
    sides_of,
)
from weebill.files import sha256_text
from weebill.text_files import COMPRESSED, OTHER_ARCHIVES

Config = dict[str, Any]
HELD_OUT_FIRST = ("validation", "test_sets", "corpora")


def complete(config: Config, broken: set[str]) -> None:
    """Fill in the seeds of noise, derived from the experiment's seed and their place, and the parts of embedded text.

    An entry of embedded text without `skip` gets the pairs after those of the previous entry.  Validation and
    test sets come first, so that a longer corpus changes neither.
    """
    end = 0
    for entry in entries(config, [name for name in HELD_OUT_FIRST if name not in broken]):
        if entry.values["importer"] == tatoeba.NAME:
            end = entry.values.setdefault("skip", end) + entry.values["pairs"]
        if "noise" in entry.values:
            place = (*entry.path, "noise")
            entry.values["noise"].setdefault("seed", _derived_seed(config.get("seed"), place))


def _derived_seed(seed: Any, path: tuple[Key, ...]) -> int:
    """Return a seed below 2^32 that differs for each place of an experiment."""
    return int(sha256_text(f"{seed} {key_path(path)}")[:8], 16)


def entry_faults(config: Config, zoo: object) -> Iterator[Fault]:
    """Yield a fault for importer keys that do not fit together, addresses without checksum, unreadable archives."""
    for entry in entries(config):
        if entry.values["importer"] == "files":
            yield from _sides(entry)
            yield from _checksums(entry)
            yield from _archives(entry)
            yield from _lines(entry)
        elif entry.values["importer"] == "hugging_face":
            yield from _data_set(entry)
        elif entry.values["importer"] == tatoeba.NAME:
            yield from _embedded(entry)


def _sides(entry: Entry) -> Iterator[Fault]:
    values, path = entry.values, entry.path
    if ("table" in values) == any(side in values for side in SIDES):
        found = "both" if "table" in values else "neither"
        yield Fault(path, f"found {found}, expected one of source, table")
        return
    if "table" in values:
        if "columns" not in values:
            yield Fault(
                (*path, "columns"), "missing, expected the columns of the table, counted from 0"
            )
            return
        yield from _wanted_sides(entry.monolingual, values["columns"], (*path, "columns"), SIDES)
    else:
        if "columns" in values:
            yield Fault((*path, "columns"), "found without table, expected source and target alone")
        yield from _wanted_sides(entry.monolingual, values, path, SIDES)


def _wanted_sides(
    monolingual: Side | None, values: Mapping[str, Any], path: tuple[Key, ...], keys: Sequence[str]
) -> Iterator[Fault]:
    """Yield a fault for each side that is missing, superfluous or equal to the other.

    keys: the keys of source and target.
    """
    wanted = sides_of(monolingual)
    for side, key in zip(SIDES, keys, strict=True):
        if side in wanted and key not in values:
            message = f"missing, expected the {side} side of {kind_of(monolingual)} text"
            yield Fault((*path, key), message)
        elif side not in wanted and key in values:
            message = f"found in a monolingual corpus, expected the {monolingual} side alone"
            yield Fault((*path, key), message)
    source, target = (values.get(key) for key in keys)
    if source is not None and source == target:
        message = f"found {shown(target)} as {keys[0]} too, expected two sides"
        yield Fault((*path, keys[1]), message)


def _data_set(entry: Entry) -> Iterator[Fault]:
    values, path = entry.values, entry.path
    if ("name" in values) == ("folder" in values):
        found = "both" if "name" in values else "neither"
        yield Fault(path, f"found {found}, expected one of name, folder")
    elif ("name" in values) != ("revision" in values):
        if "name" in values:
            yield Fault(
                (*path, "revision"), "missing, expected the commit of the data set on the hub"
            )
        else:
            yield Fault((*path, "revision"), "found beside folder, expected it beside name alone")
    fields = [f"{side}_field" for side in SIDES]
    yield from _wanted_sides(entry.monolingual, values, path, fields)


def _embedded(entry: Entry) -> Iterator[Fault]:
    pairs, skip = entry.values["pairs"], entry.values["skip"]
    if skip + pairs > tatoeba.PAIRS:
        found = f"found {pairs:,} after {skip:,} that are skipped or read by other entries"
        message = f"{found}, expected no more than the {tatoeba.PAIRS:,} embedded pairs in all"
        yield Fault((*entry.path, "pairs"), message)


def _checksums(entry: Entry) -> Iterator[Fault]:
    for key in FILE_KEYS:
        path, checksum = entry.values.get(key), entry.values["sha256"].get(key)
        place = (*entry.path, "sha256", key)
        if path is None and checksum is not None:
            yield Fault(
                place, f"found a checksum, expected the key {key_path((*entry.path, key))} too"
            )
        if path is not None:
            yield from address((*entry.path, key), path, place, checksum)


def _archives(entry: Entry) -> Iterator[Fault]:
    """Yield a fault for each file whose compression cannot be read."""
    for key in FILE_KEYS:
        place = entry.values.get(key, "")
        name = urlparse(place).path if is_url(place) else place
        if posixpath.splitext(name)[1] in OTHER_ARCHIVES:
            message = f"found '{place}', expected plain text, {' or '.join(COMPRESSED)}"
            yield Fault((*entry.path, key), message)


def _lines(entry: Entry) -> Iterator[Fault]:
    lines = entry.values.get("lines")
    if lines and lines["last"] < lines["first"]:
        message = f"found {lines['last']}, expected at least lines.first {lines['first']}"
        yield Fault((*entry.path, "lines", "last"), message)


def address(
    place: tuple[Key, ...], path: str, checksum_place: tuple[Key, ...], checksum: Any
) -> Iterator[Fault]:
    """Yield a fault for an address that is not https, or that has no checksum; local paths have no fault."""
    if is_url(path) and not path.startswith("https://"):
        yield Fault(place, f"found '{path}', expected a local path or an address https://…")
    elif is_url(path) and checksum is None:
        yield Fault(checksum_place, f"missing, expected the SHA-256 of what {path} holds")


def noise(config: Config, zoo: object) -> Iterator[Fault]:
    """Yield a fault for noise in monolingual text, and for wrong languages without text in them."""
    for entry in entries(config, ["corpora"]):
        found, place = entry.values.get("noise"), (*entry.path, "noise")
        if found and entry.monolingual:
            message = "found in a monolingual corpus, expected none: it damages pairs"
            yield Fault(place, message)
        if found and ("wrong_language" in found["kinds"]) != bool(found["other_languages"]):
            other = "found without" if found["other_languages"] else "missing beside"
            message = f"{other} the kind wrong_language, expected both or neither"
            yield Fault((*place, "other_languages"), message)


def language_id(config: Config, zoo: object) -> Iterator[Fault]:
    """Yield a fault for a downloaded language identifier without a checksum."""
    identifier = config["cleaning"].get("language_id")
    if identifier:
        place = ("cleaning", "language_id")
        checksum = identifier.get("sha256")
        yield from address((*place, "model"), identifier["model"], (*place, "sha256"), checksum)


def embedded_languages(config: Config, zoo: object) -> Iterator[Fault]:
    """Yield a fault for embedded text in another language pair, and for noise in the experiment's languages."""
    pair = (config["languages"]["source"], config["languages"]["target"])
    for entry in entries(config, ["corpora"]):
        own = [name for name in tatoeba.OTHER_LANGUAGES if name in pair]
        if own and tatoeba.NAME in entry.values.get("noise", {}).get("other_languages", ()):
            message = f"tatoeba: found {own[0]} among the experiment's languages, expected files of others"
            yield Fault((*entry.path, "noise", "other_languages"), message)
    if pair == tatoeba.PAIR_LANGUAGES or pair[0] == pair[1]:
        return  # another check reports equal languages
    found = f"found languages {pair[0]} to {pair[1]}, expected en to de, the only ones it knows"
    for entry in entries(config):
        if entry.values["importer"] == tatoeba.NAME:
            yield Fault((*entry.path, "importer"), f"tatoeba: {found}")
    if config["cleaning"].get("language_id", {}).get("model") == tatoeba.NAME:
        yield Fault(("cleaning", "language_id", "model"), f"tatoeba: {found}")


def sacrebleu_sets(config: Config, zoo: object) -> Iterator[Fault]:
    """Yield a fault for each test set that sacreBLEU lacks, or lacks in these languages."""
    named = [entry for entry in entries(config) if entry.values["importer"] == "sacrebleu"]
    if not named:
        return
    from sacrebleu import DATASETS  # takes a moment to load

    pair = f"{config['languages']['source']}-{config['languages']['target']}"
    for entry in named:
        name = entry.values["name"]
        if name not in DATASETS:
            message = f"no test set '{name}' in sacreBLEU{nearest(name, DATASETS)}"
            yield Fault((*entry.path, "name"), message)
        elif pair not in DATASETS[name].langpairs:
            known = ", ".join(sorted(DATASETS[name].langpairs))
            message = (
                f"found '{name}', which has no {pair}, expected one with it ({name} has {known})"
            )
            yield Fault((*entry.path, "name"), message)


def named_corpora(config: Config, zoo: object) -> Iterator[Fault]:
    """Yield a fault for each data set that mtdata, and each corpus that OPUS, lacks in these languages."""
    named = [entry for entry in entries(config) if entry.values["importer"] in ("mtdata", "opus")]
    if not named:
        return
    from weebill.corpus.importers.mtdata import name_fault  # loads Arrow
    from weebill.corpus.importers.opus import corpus_faults

    languages = (config["languages"]["source"], config["languages"]["target"])
    for entry in named:
        if entry.values["importer"] == "mtdata":
            for place, name in _names(entry):
                if message := name_fault(name, languages, entry.monolingual):
                    yield Fault(place, message)
        # A corpus with a checksum has been seen by its user, and may be newer than our index; there is no index of
        # monolingual corpora.
        elif "sha256" not in entry.values and not entry.monolingual:
            corpus, version = entry.values["name"], entry.values["version"]
            for key, message in corpus_faults(corpus, version, languages):
                yield Fault((*entry.path, key), message)


def _names(entry: Entry) -> Iterator[tuple[tuple[Key, ...], str]]:
    """Yield the place and the text of each name in an mtdata entry."""
    name = entry.values["name"]
    if isinstance(name, str):
        yield (*entry.path, "name"), name
    else:
        yield from (((*entry.path, "name", index), one) for index, one in enumerate(name))


def overlaps(config: Config, zoo: object) -> Iterator[Fault]:
    """Yield a fault for data that is used both to train and to test or validate: results would be worthless.

    This compares files, names of data sets and numbers of embedded pairs; the cleaning compares sentences.
    """
    tests = list(entries(config, ["test_sets"]))
    validation = list(entries(config, ["validation"]))
    training = list(entries(config, ["corpora"]))
    for entry in tests:
        yield from _shared(entry, training, "training data")
    for entry in validation:
        yield from _shared(entry, training, "training data")
        if not config["validation_may_overlap_tests"]:
            hint = " (validation_may_overlap_tests: true permits it)"
            yield from _shared(entry, tests, "a test set", hint)


def _shared(entry: Entry, others: list[Entry], role: str, hint: str = "") -> Iterator[Fault]:
    origins = _origins(entry)
    for other in others:
        common = sorted(origins & _origins(other))
        if common:
            message = f"found {common[0]}, which is {role} too ({key_path(other.path)}), expected other data"
            yield Fault(entry.path, message + hint)


def _mtdata_origin(name: str) -> str:
    """Return the origin of an mtdata data set: its OPUS name, same as for the importer `opus`, or its own name."""
    from weebill.corpus.importers.mtdata_index import find_entry

    entry = find_entry(name)
    found = entry and re.search(r"/OPUS-([^/]+)/([^/]+)/moses/", entry.urls[0])
    return f"'{found[1]} {found[2]}' of OPUS" if found else f"'{name}'"


def _origins(entry: Entry) -> set[str]:
    """Return names of the data that an entry reads; equal data has equal names."""
    values = entry.values
    if values["importer"] == "sacrebleu":
        return {f"test set '{values['name']}'"}
    if values["importer"] == tatoeba.NAME:
        pairs = range(values["skip"], values["skip"] + values["pairs"])
        return {f"pair {number:,} of the embedded text" for number in pairs}
    if values["importer"] == "mtdata":
        return {_mtdata_origin(name) for _, name in _names(entry)}
    if values["importer"] == "opus":
        return {f"'{values['name']} {values['version']}' of OPUS"}
    if values["importer"] == "hugging_face":
        place = values.get("name") or posixpath.normpath(values.get("folder", ""))
        parts = [values.get("config"), values["split"]]
        return {f"'{' '.join([place, *filter(None, parts)])}'"}
    paths = [values[key] for key in FILE_KEYS if key in values]
    return {f"'{path if is_url(path) else posixpath.normpath(path)}'" for path in paths}
