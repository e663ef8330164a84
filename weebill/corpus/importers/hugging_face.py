"""Importer `hugging_face`: parallel data sets of the Hugging Face hub, or a local folder with one.

The Parquet and JSON Lines files of a data set are read directly, row by row: the library `datasets` would
copy them into Arrow files first and keeps no checksums.  `huggingface_hub` lists the files of a data set.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from weebill.corpus.hugging_face_hub import address, licence_of, listing
from weebill.corpus.importers.reading import IN_CELLS, Controls, Row, Text, lines
from weebill.corpus.sources import Places, Source
from weebill.corpus.table import read_batches
from weebill.errors import InputError, nearest
from weebill.experiment.corpora import Side, kind_of, sides_of

TABLE = ".parquet"
JSON_LINES = (
    ".jsonl",
    ".jsonl.gz",
    ".jsonl.zst",
    ".json",
    ".json.gz",
)  # many files named .json contain JSON Lines
SHARD = re.compile(r"^(.*)-(\d{5})-of-(\d{5})(\..+)$")


@dataclass(frozen=True)
class HuggingFaceImporter:
    """One split of a data set, by its name and commit on the hub, or in a folder with the hub's layout.

    config: configuration that the data set's card names, or a folder of the data set.
    source_field, target_field: fields of the two sides; dots lead into nested fields: `translation.en`.
    """

    source_field: str | None = None
    target_field: str | None = None
    name: str | None = None
    revision: str | None = None
    folder: str | None = None
    config: str | None = None
    split: str = "train"
    control_characters: str = "error"

    def __post_init__(self) -> None:
        if (self.name is None) == (self.folder is None):
            raise InputError(
                "importer hugging_face: give either `name` (and `revision`) or `folder`"
            )
        if self.name is not None and self.revision is None:
            raise InputError(
                "importer hugging_face: `name` needs `revision`, the commit, so that every run reads the same"
            )
        Controls(self.control_characters)

    def local_files(self) -> list[str]:
        """Return the data files of the local folder, if there is one."""
        return [] if self.folder is None else [str(path) for path in _data_files(self.folder)]

    def sources(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> list[Source]:
        """Return the files of the split, in the order of their names.

        Raises InputError if the data set, the configuration or the split is unknown, a shard is missing, or
        the hub cannot be reached.
        """
        for side in sides_of(monolingual):
            if getattr(self, f"{side}_field") is None:
                raise InputError(
                    f"importer hugging_face: {kind_of(monolingual)} text needs `{side}_field`"
                )
        folder, base = self._folder(places)
        if folder is not None:
            card = _read_card(folder / "README.md")
            files = {path.relative_to(folder).as_posix(): None for path in _data_files(folder)}
        else:
            found = listing("dataset", self.name, self.revision, places.cache_path)
            card, files = found["card"], found["files"]
        name = self.name or self.folder
        licence = licence_of(card)
        return [
            Source(
                f"{base}/{file}",
                name,
                self.revision,
                licence,
                file_name=f"{name}/{file}",
                sha256=files[file],
                path=None if folder is None else folder / file,
            )
            for file in split_files(list(files), card, self.config, self.split, name)
        ]

    def _folder(self, places: Places) -> tuple[Path | None, str]:
        """Return the local folder of the data set (None: on the hub), and the beginning of its files' places."""
        if self.folder is not None:
            if not Path(self.folder).is_dir():
                raise InputError(
                    f"{self.folder}: no such folder; check the path in the configuration"
                )
            return Path(self.folder), self.folder
        base = address("dataset", self.name, self.revision)
        if places.local_dir is not None:
            own = Path(places.local_dir) / self.name
            if own.is_dir():
                return own, base
        return None, base

    def rows(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> Iterator[Row]:
        """Yield the rows of the split, in order.

        Each text is one segment; a line break inside it counts as a control character.
        Raises InputError that names file and row if a field is missing or is not text.
        """
        controls = Controls(self.control_characters)
        fields = [getattr(self, f"{side}_field") for side in sides_of(monolingual)]
        for source in self.sources(languages, monolingual, places):
            path = places.path(source)
            for texts in _checked(controls, path, field_values(path, fields, source.place)):
                row = dict(zip(sides_of(monolingual), texts, strict=True))
                yield row.get("source"), row.get("target")


def split_files(
    files: list[str], card: Mapping[str, Any], config: str | None, split: str, name: str
) -> list[str]:
    """Return the files of a split, chosen by the data set's card, or else by their names.

    Raises InputError if there are none, or if one of the shards `…-00000-of-00012` is missing.
    """
    patterns = _card_patterns(card, config, split, name)
    if patterns is not None:
        matched = [
            file for file in files if any(_glob(pattern).fullmatch(file) for pattern in patterns)
        ]
    else:
        word = re.compile(rf"(^|[-._/]){re.escape(split)}([-._/]|$)")
        below = "" if config is None else f"{config}/"
        inside = [file for file in files if file.startswith(below)]
        matched = [file for file in inside if word.search(file.removeprefix(below))]
    matched = sorted(file for file in matched if _is_data(file))
    if not matched:
        shown = ", ".join(sorted(files)[:8]) or "none"
        wanted = f"split '{split}'" + (f" of configuration '{config}'" if config else "")
        raise InputError(
            f"{name}: no file of {wanted} in Parquet or JSON Lines; its files: {shown}"
        )
    _check_shards(matched, name)
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
        raise InputError(
            f"{name}: no configuration '{config}'{nearest(config, configs)}; it has {', '.join(configs)}"
        )
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


def _glob(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which `*` matches inside one folder and `**` across folders."""
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts))


def _check_shards(files: list[str], name: str) -> None:
    """Raise InputError if a shard is missing, by the number of shards that their names give."""
    groups: dict[tuple[str, str, str], set[int]] = {}
    for found in filter(None, map(SHARD.match, files)):
        head, number, count, tail = found.groups()
        groups.setdefault((head, count, tail), set()).add(int(number))
    for (head, count, tail), numbers in groups.items():
        if missing := sorted(set(range(int(count))) - numbers):
            raise InputError(
                f"{name}: {head}-{missing[0]:05d}-of-{count}{tail} is missing, the first of "
                f"{len(missing)} missing shards; fetch the data set again"
            )


def _is_data(file: str | Path) -> bool:
    return str(file).endswith((TABLE, *JSON_LINES))


def _data_files(folder: str | Path) -> list[Path]:
    return sorted(path for path in Path(folder).rglob("*") if _is_data(path) and path.is_file())


def _read_card(path: Path) -> dict[str, Any]:
    """Read the YAML head of a data set's README; return an empty dictionary if there is none."""
    if not path.is_file():
        return {}
    try:
        head = re.match(r"---\n(.*?)\n---(\n|$)", path.read_text(encoding="utf-8"), re.DOTALL)
        return {} if head is None else yaml.safe_load(head[1]) or {}
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(
            f"{path}: its YAML head cannot be read ({error}); fetch it again"
        ) from error


def field_values(path: Path, fields: list[str], place: str | None = None) -> Iterator[list[Any]]:
    """Yield the values of some fields in each row of a Parquet or JSON Lines file; None for a missing field.

    place: origin of the file, whose suffix decides the format; `path` by default.
    Raises InputError that names file and line if a line is not JSON.
    """
    table = (place or str(path)).endswith(TABLE)
    return _parquet(path, fields) if table else _json(path, fields)


def _parquet(path: Path, fields: list[str]) -> Iterator[list[Any]]:
    """Yield the values of some fields, row by row; memory holds at most 8,192 rows."""
    columns = list(dict.fromkeys(field.split(".")[0] for field in fields))
    for batch in read_batches(path, columns, kept=False, rows=8192):
        for row in batch.to_pylist():
            yield [_value(row, field) for field in fields]


def _json(path: Path, fields: list[str]) -> Iterator[list[Any]]:
    """Yield the values of some fields, line by line."""
    suffix = PurePosixPath(path).suffix
    for number, line in enumerate(lines(Text(path, None, suffix)), start=1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(
                f"{path}:{number}: not JSON ({error}); a line holds one object"
            ) from error
        yield [_value(row, field) for field in fields]


def _value(row: Any, field: str) -> Any:
    for key in field.split("."):
        row = row.get(key) if isinstance(row, dict) else None
    return row


def _checked(controls: Controls, path: Path, rows: Iterator[list[Any]]) -> Iterator[list[str]]:
    """Yield the rows after the checks of text lines.  Raises InputError with file and row if a field is not text."""
    number = replaced = 0
    for number, row in enumerate(rows, start=1):
        for value in row:
            if not isinstance(value, str):
                found = "nothing" if value is None else type(value).__name__
                raise InputError(
                    f"{path}:{number}: found {found}, expected text; check `source_field` and `target_field`"
                )
        texts = [controls.text(path, number, value, IN_CELLS) for value in row]
        replaced += texts != row
        yield texts
    controls.report(path, number, replaced)
