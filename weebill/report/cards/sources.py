"""Origins and licences of an experiment's data, from its configuration and the lock file of its sources."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weebill.corpus import tatoeba
from weebill.corpus.download import base_name, is_url
from weebill.corpus.origins import Origin, origin
from weebill.experiment.origins import is_made, name_of
from weebill.files import read_json

# Sections of a configuration that name data or initial models, by kind of experiment.
SECTIONS = {
    "translation": (
        "corpora",
        "validation",
        "test_sets",
        "teacher",
        "reverse_teacher",
        "published",
    ),
    "metric": ("texts", "encoders", "reference", "pruning", "distillation", "test_sets"),
    "generation": ("data", "models"),
}
PLACES = ("path", "folder", "source", "target", "table", "texts", "models")
# Keys of names on the Hugging Face hub, or of paths → the address that such a name follows.
HUB = dict.fromkeys(("hugging_face", "checkpoint"), "https://huggingface.co")
HUB["name"] = "https://huggingface.co/datasets"
UNKNOWN = "not recorded; ask the owner"
ADDRESSES = 2  # addresses shown for a text that is made from several folders


@dataclass(frozen=True)
class DataSource:
    """Data or an initial model: its use (section of the configuration), name, place and licence."""

    use: str
    name: str
    place: str
    licence: str = UNKNOWN


def data_sources(config: Mapping[str, Any], locks: Sequence[str]) -> list[DataSource]:
    """Return all data of an experiment, each use once.  locks: the lock file, or nothing if there is none."""
    lock = {key: some for path in locks for key, some in read_json(path)["sources"].items()}
    found: dict[DataSource, None] = {}
    for section in SECTIONS[config["kind"]]:
        for source in _in_section(section, config.get(section), config, lock):
            found[source] = None
    return list(found)


def _in_section(
    use: str, value: Any, config: Mapping[str, Any], lock: Mapping[str, Any]
) -> Iterator[DataSource]:
    locked = {key for key in lock if key == use or key.startswith((f"{use}.", f"{use}["))}
    for key in sorted(locked):
        for record in lock[key]:
            yield _recorded(key, record, config)
    yield from _in_value(use, value, config, bool(locked), use)


def _recorded(use: str, record: Mapping[str, Any], config: Mapping[str, Any]) -> DataSource:
    """Return a source that the lock file records."""
    if is_made(record["place"]):
        return _public(use, record["place"], config)
    name = f"{record['name']} {record.get('version', '')}".strip()
    return DataSource(use, name, record["place"], record.get("licence") or UNKNOWN)


def _in_value(
    use: str, value: Any, config: Mapping[str, Any], locked: bool, key: str
) -> Iterator[DataSource]:
    """Find the data that a section names.  locked: True if the lock file has its files."""
    if isinstance(value, Mapping):
        importer = value.get("importer", "hugging_face")
        if importer == "tatoeba":
            yield DataSource(
                use, "Tatoeba, sentences within Weebill", "https://tatoeba.org", _notice()
            )
        for inner, one in value.items():
            place = f"{use}.{inner}" if use in ("corpora", "test_sets", "data") else use
            if inner == "files" and isinstance(one, Mapping):  # address → checksum
                yield from _in_value(place, list(one), config, locked, "path")
            elif inner != "name" or importer == "hugging_face":
                yield from _in_value(place, one, config, locked, inner)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _in_value(use, one, config, locked, key)
    elif isinstance(value, str) and is_made(value):
        yield _public(use, value, config)
    elif isinstance(value, str) and key in (*PLACES, *HUB) and not locked:
        yield from _unlocked(use, value, key)


def _unlocked(use: str, place: str, key: str) -> Iterator[DataSource]:
    """Return what an address, a path or a name on the hub leads to; nothing for other texts."""
    if is_url(place):
        yield DataSource(use, base_name(place), place)
    elif Path(place).exists():
        yield DataSource(use, Path(place).name, "a file of the user's own")
    elif key in HUB:
        name = place.partition("@")[0]  # a checkpoint may be NAME@COMMIT
        yield DataSource(use, name, f"{HUB[key]}/{name}", "that of its card on the hub")


def _public(use: str, place: str, config: Mapping[str, Any]) -> DataSource:
    """Return a public text that the workflow makes from its originals, or that the configuration defines."""
    name = name_of(place)
    text = origin(name, config.get("origins"))
    if not isinstance(text, Origin):
        return DataSource(use, name, text.entry.get("url") or text.entry["importer"])
    folders = sorted({one.place.rpartition("/")[0] for one in text.originals.values()})
    more = f", and {len(folders) - ADDRESSES} more" * (len(folders) > ADDRESSES)
    place = f"{', '.join(folders[:ADDRESSES])}{more}"
    return DataSource(use, name, place, text.licence or UNKNOWN)


def _notice() -> str:
    """Return the licence of the embedded sentences, from the brackets in their notice."""
    text = Path(tatoeba.__file__).with_name("NOTICE.md").read_text(encoding="utf-8")
    found = re.search(r"\((CC [^)]*)\)", text)
    return found[1] if found else UNKNOWN
