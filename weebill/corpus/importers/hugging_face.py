"""Importer `hugging_face`: parallel data sets on the Hugging Face hub or in a local folder.

Parquet and JSON Lines files are read directly, because the library `datasets` would copy them and keeps no checksums.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from weebill.corpus.hugging_face_hub import address, licence_of, listing
from weebill.corpus.importers import FromFiles, Languages, Rows, Sources, side_faults
from weebill.corpus.importers.reading import IN_CELLS, Controls
from weebill.corpus.importers.records import JSON_LINES, TABLE, field_values
from weebill.corpus.sources import Places, Problem, Source
from weebill.errors import InputError, nearest
from weebill.experiment.corpora import Entry, kind_of, sides_of
from weebill.settings import Commit, Place, Text, section
from weebill.text_files import Omitted
from weebill.yaml_files import load_yaml
from weebill_runtime.names import SIDES, Side

SHARD = re.compile(r"^(.*)-(\d{5})-of-(\d{5})(\..+)$")


@section
class HuggingFaceImporter(FromFiles):
    """One split of a data set on the [hub](https://huggingface.co/datasets), or in a folder with the set's files.

    Files are Parquet or JSON Lines.
    """

    joined = False

    name: Text | None = None
    """Name of a data set on the hub, such as `wmt/wmt19`; the alternative is `folder`. In `local_dir` the data set's
    folder has this name, `LOCAL_DIR/wmt/wmt19`."""
    revision: Commit | None = None
    """Commit of 40 digits; `name` needs one."""
    folder: Place | None = None
    """Local folder with a data set's files."""
    config: Text | None = None
    """Configuration of the data set, such as `de-en`."""
    split: Text = "train"
    """Split of the data set. The data set's card, or else the file names, determine which files belong to it."""
    source_field: Text | None = None
    """Field of a row that contains its source side; dots lead into nested fields: `translation.en`."""
    target_field: Text | None = None
    """Field of a row that contains its target side; monolingual text has one of the two."""

    def __post_init__(self) -> None:
        if (self.name is None) == (self.folder is None):
            message = "importer hugging_face: give either `name` (and `revision`) or `folder`"
            raise InputError(message)
        if self.name is not None and self.revision is None:
            message = "importer hugging_face: `name` needs `revision`, the commit, so that every run reads the same"
            raise InputError(message)

    @classmethod
    def faults(cls, entry: Entry) -> Iterator[Problem]:
        """Find missing or superfluous keys, and equal fields."""
        values, place = entry.values, (*entry.path, "revision")
        if ("name" in values) == ("folder" in values):
            found = "both" if "name" in values else "neither"
            yield entry.path, f"found {found}, expected one of name, folder"
        elif "name" in values and "revision" not in values:
            yield place, "missing, expected the commit of the data set on the hub"
        elif "name" not in values and "revision" in values:
            yield place, "found beside folder, expected it beside name alone"
        yield from side_faults(entry, values, entry.path, [f"{side}_field" for side in SIDES])

    @classmethod
    def origins(cls, values: Mapping[str, Any]) -> set[str]:
        """Name the split of the data set."""
        place = values.get("name") or posixpath.normpath(values.get("folder", ""))
        return {f"'{' '.join(filter(None, [place, values.get('config'), values['split']]))}'"}

    def local_files(self) -> list[str]:
        """Return the data files of the local folder, if there is one."""
        return [] if self.folder is None else [str(path) for path in _data_files(self.folder)]

    def sources(self, languages: Languages, monolingual: Side | None, places: Places) -> Sources:
        """Return the files of the split, in the order of their names.

        Raises InputError if data set, configuration or split is unknown, or a shard or the hub is missing.
        """
        for side in sides_of(monolingual):
            if getattr(self, f"{side}_field") is None:
                message = f"importer hugging_face: {kind_of(monolingual)} text needs `{side}_field`"
                raise InputError(message)
        name, folder = self.name or self.folder, self._folder(places)
        base = self.folder or address("dataset", self.name, self.revision)
        if folder is not None:
            card = _read_card(folder / "README.md")
            files = {path.relative_to(folder).as_posix(): None for path in _data_files(folder)}
        else:
            found = listing("dataset", self.name, self.revision, places.cache_path)
            card, files = found["card"], found["files"]
        about = (name, self.revision, licence_of(card))
        found = []
        for file in split_files(list(files), card, self.config, self.split, name):
            path = None if folder is None else folder / file
            found.append(Source(f"{base}/{file}", *about, f"{name}/{file}", files[file], path))
        return found

    def _folder(self, places: Places) -> Path | None:
        """Return the local folder of the data set; None if it is on the hub."""
        if self.folder is not None:
            if not Path(self.folder).is_dir():
                message = f"{self.folder}: no such folder; check the path in the configuration"
                raise InputError(message)
            return Path(self.folder)
        own = Path(places.local_dir or "", self.name)
        return own if places.local_dir is not None and own.is_dir() else None

    def rows(self, sources: Sources, languages: Languages, monolingual: Side | None) -> Rows:
        """Yield the rows of the split, in order; a line break inside a text counts as a control character.

        Raises InputError, which names file and row, if a field is missing or is not text.
        """
        controls, wanted = Controls(self.control_characters), sides_of(monolingual)
        fields = [getattr(self, f"{side}_field") for side in wanted]
        for source in sources:
            path, number, replaced = source.path, 0, 0
            for number, row in enumerate(field_values(path, fields, source.place), start=1):
                for value in row:
                    if not isinstance(value, str):
                        found = "nothing" if value is None else type(value).__name__
                        raise InputError(
                            f"{path}:{number}: found {found}, expected text; check `source_field` and `target_field`"
                        )
                texts = [controls.text(path, number, value, IN_CELLS) for value in row]
                replaced += any(
                    t != v and not isinstance(t, Omitted) for t, v in zip(texts, row, strict=True)
                )
                yield tuple(map(dict(zip(wanted, texts, strict=True)).get, SIDES))
            controls.report(path, number, replaced)


def split_files(
    files: list[str], card: Mapping[str, Any], config: str | None, split: str, name: str
) -> list[str]:
    """Return the files of a split, chosen by the data set's card, or else by their names.

    Raises InputError if there are none, or if one of the shards `…-00000-of-00012` is missing.
    """
    try:
        patterns = _card_patterns(card, config, split, name)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{name}: `configs` in its card, README.md, lists no files as the hub does; mend it, or remove it"
        ) from error
    if patterns is None:
        below = "" if config is None else f"{re.escape(config)}/"
        find = re.compile(rf"{below}(.*[-._/])?{re.escape(split)}([-._/].*)?")
    else:
        find = re.compile("|".join(map(_glob, patterns)))
    matched = sorted(file for file in files if _is_data(file) and find.fullmatch(file))
    if not matched:
        shown = ", ".join(sorted(files)[:8]) or "none"
        wanted = f"split '{split}'" + (f" of configuration '{config}'" if config else "")
        message = f"{name}: no file of {wanted} in Parquet or JSON Lines; its files: {shown}"
        raise InputError(message)
    groups: dict[tuple[str, str, str], set[int]] = {}
    for found in filter(None, map(SHARD.match, matched)):
        head, number, count, tail = found.groups()
        groups.setdefault((head, count, tail), set()).add(int(number))
    for (head, count, tail), numbers in groups.items():
        if missing := sorted(set(range(int(count))) - numbers):
            raise InputError(
                f"{name}: {head}-{missing[0]:05d}-of-{count}{tail} is missing, the first of "
                f"{len(missing)} missing shards; fetch the data set again"
            )
    return matched


def _card_patterns(
    card: Mapping[str, Any], config: str | None, split: str, name: str
) -> list[str] | None:
    """Return the patterns of a split's files in a card; None if the card names no files."""
    configs = {one["config_name"]: one for one in card.get("configs") or []}
    if not configs:
        return None
    if config is None:
        config = "default" if "default" in configs else next(iter(configs))
        if len(configs) > 1 and config != "default":
            raise InputError(f"{name}: `config` is missing, expected one of {', '.join(configs)}")
    if config not in configs:
        message = f"{name}: no configuration '{config}'{nearest(config, configs)}; it has {', '.join(configs)}"
        raise InputError(message)
    found = configs[config].get("data_files")
    if found is None:
        return None
    if isinstance(found, list) and all(isinstance(one, dict) for one in found):
        splits = {one["split"]: one["path"] for one in found}
        if split not in splits:
            raise InputError(
                f"{name}: no split '{split}'{nearest(split, splits)}; it has {', '.join(splits)}"
            )
        found = splits[split]
    return [found] if isinstance(found, str) else list(found)


def _glob(pattern: str) -> str:
    """Return the regular expression of a pattern; `*` matches inside one folder and `**` across folders.

    `?` and `[0-9]` match one character.
    """
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[!\w-]+\])", pattern)
    words |= {part: part.replace("[!", "[^") for part in parts[1::2] if part[0] == "["}
    return "".join(words.get(part, re.escape(part)) for part in parts)


def _is_data(file: str | Path) -> bool:
    return str(file).lower().endswith((TABLE, *JSON_LINES))


def _data_files(folder: str | Path) -> list[Path]:
    return sorted(path for path in Path(folder).rglob("*") if _is_data(path) and path.is_file())


def _read_card(path: Path) -> dict[str, Any]:
    """Read the YAML head of a data set's README; return an empty dictionary if there is none."""
    if not path.is_file():
        return {}
    try:
        head = re.match(r"---\n(.*?)\n---(\n|$)", path.read_text(encoding="utf-8-sig"), re.DOTALL)
        values = {} if head is None else load_yaml(head[1]) or {}
    # Impossible dates and bytes are ValueErrors, deep nesting is a RecursionError.
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        first = str(error).splitlines()[0]
        message = f"{path}: its YAML head cannot be read ({first}); fetch it again"
        raise InputError(message) from error
    if not isinstance(values, dict):
        raise InputError(f"{path}: its YAML head has no keys; fetch it again")
    return values
