"""Checks of the data that an experiment names: keys of importers, languages, overlaps."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlparse

from weebill.configuration.schema import Config, Fault, Place, at, shown
from weebill.corpus import tatoeba
from weebill.corpus.download import is_url
from weebill.errors import key_path, nearest
from weebill.experiment.corpora import FILE_KEYS, SIDES, Entry, entries, kind_of, sides_of
from weebill.experiment.zoo import Zoo
from weebill.files import sha256_text
from weebill.text_files import COMPRESSED, OTHER_ARCHIVES

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
            text = f"{config.get('seed')} {key_path((*entry.path, 'noise'))}"
            entry.values["noise"].setdefault("seed", int(sha256_text(text)[:8], 16))


def _files(entry: Entry) -> Iterator[Fault]:
    values, path = entry.values, entry.path
    if ("table" in values) == any(side in values for side in SIDES):
        found = "both" if "table" in values else "neither"
        yield Fault(path, f"found {found}, expected one of source, table")
    elif "table" not in values:
        if "columns" in values:
            yield Fault((*path, "columns"), "found without table, expected source and target alone")
        yield from _wanted_sides(entry, values, path, SIDES)
    elif "columns" in values:
        yield from _wanted_sides(entry, values["columns"], (*path, "columns"), SIDES)
    else:
        message = "missing, expected the columns of the table, counted from 0"
        yield Fault((*path, "columns"), message)
    for key in FILE_KEYS:
        file, checksum, place = values.get(key), values["sha256"].get(key), (*path, "sha256", key)
        if file is not None:
            yield from address((*path, key), file, place, checksum)
        elif checksum is not None:
            yield Fault(place, f"found a checksum, expected the key {key_path((*path, key))} too")
    for key in FILE_KEYS:
        file = values.get(key, "")
        if posixpath.splitext(urlparse(file).path if is_url(file) else file)[1] in OTHER_ARCHIVES:
            message = f"found '{file}', expected plain text, {' or '.join(COMPRESSED)}"
            yield Fault((*path, key), message)
    lines = values.get("lines")
    if lines and lines["last"] < lines["first"]:
        message = f"found {lines['last']}, expected at least lines.first {lines['first']}"
        yield Fault((*path, "lines", "last"), message)


def _wanted_sides(
    entry: Entry, values: Mapping[str, Any], path: Place, keys: Sequence[str]
) -> Iterator[Fault]:
    """Yield a fault for each side that is missing, superfluous or equal to the other; keys: of source and target."""
    wanted = sides_of(entry.monolingual)
    for side, key in zip(SIDES, keys, strict=True):
        if side in wanted and key not in values:
            message = f"missing, expected the {side} side of {kind_of(entry.monolingual)} text"
            yield Fault((*path, key), message)
        elif side not in wanted and key in values:
            message = f"found in a monolingual corpus, expected the {entry.monolingual} side alone"
            yield Fault((*path, key), message)
    source, target = (values.get(key) for key in keys)
    if source is not None and source == target:
        yield Fault((*path, keys[1]), f"found {shown(target)} as {keys[0]} too, expected two sides")


def _data_set(entry: Entry) -> Iterator[Fault]:
    values, place = entry.values, (*entry.path, "revision")
    if ("name" in values) == ("folder" in values):
        found = "both" if "name" in values else "neither"
        yield Fault(entry.path, f"found {found}, expected one of name, folder")
    elif "name" in values and "revision" not in values:
        yield Fault(place, "missing, expected the commit of the data set on the hub")
    elif "name" not in values and "revision" in values:
        yield Fault(place, "found beside folder, expected it beside name alone")
    yield from _wanted_sides(entry, values, entry.path, [f"{side}_field" for side in SIDES])


def _embedded(entry: Entry) -> Iterator[Fault]:
    pairs, skip = entry.values["pairs"], entry.values["skip"]
    if skip + pairs > tatoeba.PAIRS:
        found = f"found {pairs:,} after {skip:,} that are skipped or read by other entries"
        message = f"{found}, expected no more than the {tatoeba.PAIRS:,} embedded pairs in all"
        yield Fault((*entry.path, "pairs"), message)


def _importers(config: Config, zoo: Zoo) -> Iterator[Fault]:
    checks = {"files": _files, "hugging_face": _data_set, tatoeba.NAME: _embedded}
    for entry in entries(config):
        if entry.values["importer"] in checks:
            yield from checks[entry.values["importer"]](entry)


def address(place: Place, path: str, checksum_place: Place, checksum: Any) -> Iterator[Fault]:
    """Yield a fault for an address that is not https, or that has no checksum; local paths have no fault."""
    if is_url(path) and not path.startswith("https://"):
        yield Fault(place, f"found '{path}', expected a local path or an address https://…")
    elif is_url(path) and checksum is None:
        yield Fault(checksum_place, f"missing, expected the SHA-256 of what {path} holds")


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
        sha256 = (*place, "sha256")
        yield from address((*place, "model"), found["model"], sha256, found.get("sha256"))


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
    """Yield a fault for each data set that sacreBLEU, mtdata or OPUS lacks, or lacks in these languages."""
    pair = (config["languages"]["source"], config["languages"]["target"])
    for entry in entries(config):
        values, path, importer = entry.values, entry.path, entry.values["importer"]
        if importer == "sacrebleu":
            from sacrebleu import DATASETS  # takes a moment to load

            name, wanted, message = values["name"], "-".join(pair), None
            if name not in DATASETS:
                message = f"no test set '{name}' in sacreBLEU{nearest(name, DATASETS)}"
            elif wanted not in DATASETS[name].langpairs:
                known = f"{name} has {', '.join(sorted(DATASETS[name].langpairs))}"
                message = f"found '{name}', which has no {wanted}, expected one with it ({known})"
            found = [((*path, "name"), message)]
        elif importer == "mtdata":
            from weebill.corpus.importers.mtdata import name_fault  # loads Arrow

            names = _names(entry)
            found = [(place, name_fault(name, pair, entry.monolingual)) for place, name in names]
        # A corpus with a checksum has been seen by its user, and may be newer than our index; there is no index of
        # monolingual corpora.
        elif importer == "opus" and "sha256" not in values and not entry.monolingual:
            from weebill.corpus.importers.opus import corpus_faults

            problems = corpus_faults(values["name"], values["version"], pair)
            found = [((*path, key), message) for key, message in problems]
        else:
            continue
        yield from (Fault(place, message) for place, message in found if message)


def _names(entry: Entry) -> list[tuple[Place, str]]:
    """Return the place and the text of each name in an mtdata entry."""
    if isinstance(entry.values["name"], str):
        return [((*entry.path, "name"), entry.values["name"])]
    return [((*entry.path, *place), name) for place, name in at(entry.values, "name.*")]


def _overlaps(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for data that is used both to train and to test or validate; the cleaning compares sentences."""
    origins = {entry.path: _origins(entry) for entry in entries(config)}
    tests, training = (list(entries(config, [section])) for section in ("test_sets", "corpora"))
    pairs = [(test, other, "training data") for test in tests for other in training]
    for entry in entries(config, ["validation"]):
        pairs += [(entry, other, "training data") for other in training]
        if not config["validation_may_overlap_tests"]:
            pairs += [(entry, other, "a test set") for other in tests]
    for entry, other, role in pairs:
        hint = " (validation_may_overlap_tests: true permits it)" if role == "a test set" else ""
        for common in sorted(origins[entry.path] & origins[other.path])[:1]:
            found = f"found {common}, which is {role} too ({key_path(other.path)})"
            yield Fault(entry.path, f"{found}, expected other data{hint}")


def _origins(entry: Entry) -> set[str]:
    """Return names of the data that an entry reads; equal data has equal names."""
    values = entry.values
    match values["importer"]:
        case "sacrebleu":
            return {f"test set '{values['name']}'"}
        case tatoeba.NAME:
            pairs = range(values["skip"], values["skip"] + values["pairs"])
            return {f"pair {number:,} of the embedded text" for number in pairs}
        case "mtdata":
            return {_mtdata_origin(name) for _, name in _names(entry)}
        case "opus":
            return {f"'{values['name']} {values['version']}' of OPUS"}
        case "hugging_face":
            place = values.get("name") or posixpath.normpath(values.get("folder", ""))
            return {f"'{' '.join(filter(None, [place, values.get('config'), values['split']]))}'"}
    paths = [values[key] for key in FILE_KEYS if key in values]
    return {f"'{path if is_url(path) else posixpath.normpath(path)}'" for path in paths}


def _mtdata_origin(name: str) -> str:
    """Return the origin of an mtdata data set: its OPUS name, same as for the importer `opus`, or its own name."""
    from weebill.corpus.importers.mtdata_index import find_entry

    entry = find_entry(name)
    found = entry and re.search(r"/OPUS-([^/]+)/([^/]+)/moses/", entry.urls[0])
    return f"'{found[1]} {found[2]}' of OPUS" if found else f"'{name}'"


CHECKS = (_importers, _languages, _published, _overlaps, _noise, _identifier)
