"""Texts that a configuration names as `origin:NAME`: public texts, and texts that it defines."""

from collections.abc import Iterator, Mapping
from itertools import starmap
from pathlib import PurePosixPath
from typing import Any

from weebill.configuration.data import local_places
from weebill.configuration.schema import Config, Fault
from weebill.corpus.download import is_url, path_in
from weebill.corpus.importers import lines_fault
from weebill.corpus.importers.entries import IMPORTERS
from weebill.corpus.origins import catalogue
from weebill.corpus.origins.defined import ADDRESS
from weebill.corpus.sources import Problem, address_faults
from weebill.errors import Key, nearest
from weebill.experiment.corpora import Entry
from weebill.experiment.origins import FOLDER, PREFIX, is_made, name_of
from weebill.experiment.zoo import Zoo
from weebill_runtime.names import SIDES


def resolve(config: dict[str, Any], faults: list[Fault]) -> dict[str, Any]:
    """Return a configuration in which each `origin:NAME` is replaced by the path where the workflow makes the text.

    Unknown names, and definitions with a public text's name, become faults.  The user's own files cannot be in the
    folder of these paths.
    """
    own = config["origins"] if isinstance(config["origins"], dict) else {}  # else a fault already
    public = catalogue() if own else {}
    folders = {str(folder) for name in public for folder in PurePosixPath(name).parents}
    for name in own:
        if name in public or name in folders:
            what = "the name of a public text" if name in public else "a folder of public texts"
            faults.append(Fault(("origins", name), f"is {what}, expected another name"))
    return _resolved(config, own, faults)


def _resolved(values: Any, own: Mapping[str, Any], faults: list[Fault], *path: Key) -> Any:
    if isinstance(values, dict):
        return {k: _resolved(one, own, faults, *path, k) for k, one in values.items()}
    if isinstance(values, list):
        return [_resolved(one, own, faults, *path, k) for k, one in enumerate(values)]
    if not isinstance(values, str) or not (values.startswith(PREFIX) or is_made(values)):
        return values
    name = values.removeprefix(PREFIX) if values.startswith(PREFIX) else name_of(values)
    # The catalogue is read only when needed, so that experiments without public texts do not wait for it.
    if name not in own and name not in catalogue():
        expected = (
            "expected a name in `origins`, or a public text that `weebill fetch --list` lists"
        )
        known = [*catalogue(), *own]
        faults.append(Fault(path, f"found {values!r}, {expected}{nearest(name, known)}"))
    return (FOLDER / name).as_posix()


def definition_faults(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield the faults of the texts that the section `origins` defines."""
    for entry in _definitions(config):
        for key, value in entry.values.items():
            if isinstance(value, str) and is_made(value):
                message = (
                    f"found '{PREFIX}{name_of(value)}', expected a file: no text is made of another"
                )
                yield Fault((*entry.path, key), message)
        find = _address_faults if entry.values["importer"] == ADDRESS else _side_faults
        yield from starmap(Fault, find(entry))


def local_paths(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the key path and the path of every local file or folder that the section `origins` names."""
    for entry in _definitions(config):
        if entry.values["importer"] != ADDRESS:
            yield from local_places(entry)


def _definitions(config: Config) -> Iterator[Entry]:
    for name, values in config["origins"].items():
        yield Entry(("origins", name), values, values.get("side"))


def _address_faults(entry: Entry) -> Iterator[Problem]:
    url, place = entry.values["url"], (*entry.path, "url")
    if not is_url(url):
        yield place, f"found '{url}', expected an address https://…; a file is named by its path"
    yield from address_faults(place, url, entry.path, entry.values["sha256"])
    suffixes, member = PurePosixPath(path_in(url)).suffixes, "member" in entry.values
    packed = suffixes[-1:] in ([".zip"], [".tgz"]) or suffixes[-2:] == [".tar", ".gz"]
    if packed and not member:
        yield (*entry.path, "member"), f"missing, expected a pattern of one file in '{url}'"
    elif ".tar" in suffixes and not packed:
        yield place, f"found '{url}', expected a .zip or .tar.gz, or a file alone"


def _side_faults(entry: Entry) -> Iterator[Problem]:
    """Yield the faults of one side of a corpus; keys of the other side are allowed."""
    importer, language = IMPORTERS[entry.values["importer"]], entry.values.get("language")
    other = next(side for side in SIDES if side != entry.monolingual)
    for place, message in importer.faults(entry):
        if place[-1] not in (other, f"{other}_field"):
            yield place, message
    yield from lines_fault(entry)
    if language is not None:
        yield from importer.unpublished(entry, (language, language))
    elif importer.by_language:
        yield (*entry.path, "language"), "missing, expected the language of the text"
