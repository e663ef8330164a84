"""Importers: where a corpus comes from.  Each is a dataclass of its configuration keys and a stream of rows.

To add one, write a class with `local_files` and `rows` and enter it in IMPORTERS.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from goldcrest.corpus.download import is_url, local_file
from goldcrest.corpus.table import SCHEMA, ShardWriter, TableWriter
from goldcrest.errors import InputError, nearest
from goldcrest.text_files import read_lines

log = logging.getLogger(__name__)

Row = tuple[str, str | None]  # source and target, None in monolingual text
BATCH_ROWS = 8192

_CONTROL = re.compile(r"[\x00\t]")


@dataclass(frozen=True)
class FilesImporter:
    """A pair of text files, or a table of tab-separated values; plain, .gz or .zst; by path or URL.

    sha256: the checksum of each file, by the key that names it; a URL needs one.
    columns: of `table`, counted from 0.
    control_characters: what a NUL (or, in a pair of files, a tab) inside a line is: an error
    ("error"), or replaced by a space ("replace").
    """

    source: str | None = None
    target: str | None = None
    table: str | None = None
    columns: Mapping[str, int] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)
    control_characters: str = "error"

    def __post_init__(self) -> None:
        if (self.source is None) == (self.table is None):
            raise InputError("importer files: give either `source` (and `target`) or `table`")
        if self.table is not None and "source" not in self.columns:
            raise InputError("importer files: `table` needs `columns: {source: 0, target: 1}`")
        if self.control_characters not in ("error", "replace"):
            raise InputError(
                f"importer files: control_characters is '{self.control_characters}', expected "
                "'error' or 'replace'"
            )

    def local_files(self) -> list[str]:
        """The files that are not fetched."""
        files = [self.source, self.target, self.table]
        return [file for file in files if file is not None and not is_url(file)]

    def rows(self, languages: tuple[str, str], monolingual: bool) -> Iterator[Row]:
        """The pairs of the files, in order.

        Raises InputError where the sides differ in length, a file is empty, damaged or not UTF-8, or a
        line holds a control character.
        """
        if self.table is not None:
            yield from self._table_rows(monolingual)
        elif monolingual:
            path = self._fetch("source")
            yield from ((line, None) for line in self._checked(path, read_lines(path)))
        elif self.target is None:
            raise InputError("importer files: parallel text needs `target`, or `use: monolingual`")
        else:
            yield from self._pairs(self._fetch("source"), self._fetch("target"))

    def _fetch(self, key: str) -> Path:
        return local_file(getattr(self, key), self.sha256.get(key))

    def _pairs(self, source: Path, target: Path) -> Iterator[Row]:
        sources = self._checked(source, read_lines(source))
        targets = self._checked(target, read_lines(target))
        pairs = 0
        for line in sources:
            other = next(targets, None)
            if other is None:
                raise _unequal(source, pairs + 1 + sum(1 for _ in sources), target, pairs)
            pairs += 1
            yield line, other
        if (left := sum(1 for _ in targets)) > 0:
            raise _unequal(source, pairs, target, pairs + left)

    def _table_rows(self, monolingual: bool) -> Iterator[Row]:
        path = self._fetch("table")
        lines = self._checked(path, read_lines(path), control=re.compile("\x00"))
        wanted = [self.columns["source"]]
        if not monolingual:
            if "target" not in self.columns:
                raise InputError(f"{path}: `columns` names no target, and `use` is not monolingual")
            wanted.append(self.columns["target"])
        for number, line in enumerate(lines, start=1):
            values = line.split("\t")
            if len(values) <= max(wanted):
                raise InputError(
                    f"{path}:{number}: {len(values)} tab-separated columns, expected at least "
                    f"{max(wanted) + 1}; mend the line or `columns`"
                )
            yield values[wanted[0]], None if monolingual else values[wanted[1]]

    def _checked(
        self, path: Path, lines: Iterator[str], control: re.Pattern[str] = _CONTROL
    ) -> Iterator[str]:
        """The lines of a file that is not empty, without NUL and tab."""
        number = replaced = 0
        for number, line in enumerate(lines, start=1):
            if control.search(line):
                if self.control_characters == "error":
                    what = "a NUL character" if "\x00" in line else "a tab"
                    raise InputError(
                        f"{path}:{number}: {what} inside the line; mend the line, or set "
                        "`control_characters: replace` to read it as a space"
                    )
                line = control.sub(" ", line)
                replaced += 1
            yield line
        if not number:
            raise InputError(f"{path}: empty file; a corpus has at least one line")
        if replaced:
            log.info("%s: control characters replaced by spaces in %s lines", path, f"{replaced:,}")


def _unequal(source: Path, source_lines: int, target: Path, target_lines: int) -> InputError:
    return InputError(
        f"{source} has {source_lines:,} lines and {target} has {target_lines:,}; "
        "the sides of a corpus must have one line per pair"
    )


@dataclass(frozen=True)
class SacrebleuImporter:
    """A test set by its name in sacreBLEU, such as wmt19; its first reference is the target."""

    name: str

    def local_files(self) -> list[str]:
        """Nothing: sacreBLEU fetches its test sets and keeps them itself."""
        return []

    def rows(self, languages: tuple[str, str], monolingual: bool) -> Iterator[Row]:
        """The segments of the test set.  Raises InputError where it is unknown or cannot be fetched."""
        from sacrebleu import DATASETS, get_reference_files, get_source_file

        pair = "-".join(languages)
        if self.name not in DATASETS:
            raise InputError(
                f"sacrebleu: no test set '{self.name}'{nearest(self.name, DATASETS)}; "
                "`sacrebleu --list` shows them"
            )
        if pair not in DATASETS[self.name].langpairs:
            known = ", ".join(sorted(DATASETS[self.name].langpairs))
            raise InputError(f"sacrebleu: {self.name} has no {pair}; it has {known}")
        try:
            files = [get_source_file(self.name, pair), get_reference_files(self.name, pair)[0]]
        except (OSError, EOFError, SystemExit) as error:
            raise InputError(
                f"sacrebleu: cannot fetch {self.name} {pair} ({error}); connect to the network once, "
                "or point SACREBLEU at a folder that holds it"
            ) from error
        # sacreBLEU's own files hold what it scores; tabs are part of that text.
        importer = FilesImporter(*map(str, files), control_characters="replace")
        yield from importer.rows(languages, monolingual)


@dataclass(frozen=True)
class SyntheticImporter:
    """Pairs of the embedded English-German grammar; `noise` is the share of damaged, labelled pairs."""

    pairs: int
    noise: float = 0.0
    seed: int = 1

    def __post_init__(self) -> None:
        if self.pairs < 1:
            raise InputError(f"importer synthetic: pairs is {self.pairs}, expected at least 1")
        if not 0 <= self.noise <= 1:
            raise InputError(f"importer synthetic: noise is {self.noise}, expected 0 to 1")

    def local_files(self) -> list[str]:
        """Nothing: the grammar is part of the library."""
        return []

    def rows(self, languages: tuple[str, str], monolingual: bool) -> Iterator[tuple]:
        """English-German pairs with their noise label (None = undamaged)."""
        from goldcrest.corpus.synthetic import generate

        if languages != ("en", "de"):
            raise InputError(
                f"importer synthetic: the embedded grammar is en-de, not {'-'.join(languages)}"
            )
        for row in generate(self.pairs, self.seed, self.noise):
            yield row["source"], None if monolingual else row["target"], row["noise"]


Importer = FilesImporter | SacrebleuImporter | SyntheticImporter
IMPORTERS: dict[str, type[Importer]] = {
    "files": FilesImporter,
    "sacrebleu": SacrebleuImporter,
    "synthetic": SyntheticImporter,
}


def importer_from(entry: Mapping[str, Any]) -> Importer:
    """The importer of a corpus entry of the configuration; `use` belongs to the corpus, not to it.

    Raises InputError where the importer or one of its keys is unknown.
    """
    keys = {key: value for key, value in entry.items() if key not in ("importer", "use")}
    name = entry.get("importer")
    if name not in IMPORTERS:
        raise InputError(
            f"no importer '{name}'{nearest(name, IMPORTERS)}; one of {list(IMPORTERS)}"
        )
    kind = IMPORTERS[name]
    known = [key.name for key in fields(kind)]
    for key in keys:
        if key not in known:
            raise InputError(f"importer {name}: unknown key '{key}'{nearest(key, known)}")
    try:
        return kind(**keys)
    except TypeError as error:
        raise InputError(f"importer {name}: {error}") from error


Entries = Mapping[str, Any] | list[Mapping[str, Any]]  # one entry of the configuration, or several


def local_inputs(entries: Entries) -> list[str]:
    """The local files of entries that are there; missing ones are told when the run starts."""
    files = [file for entry in _several(entries) for file in importer_from(entry).local_files()]
    return [file for file in files if Path(file).is_file()]


def code_parts(entries: Entries) -> list[str]:
    """The parts of this library that importing the entries runs, for `code_version`."""
    parts = ["corpus.importers", "corpus.download", "corpus.table", "text_files"]
    synthetic = any(entry["importer"] == "synthetic" for entry in _several(entries))
    return [*parts, "corpus.synthetic"] if synthetic else parts


def _several(entries: Entries) -> list[Mapping[str, Any]]:
    return [entries] if isinstance(entries, Mapping) else entries


def import_corpus(
    path: str | Path,
    name: str,
    entries: Entries,
    languages: tuple[str, str],
    monolingual: bool = False,
    shard_rows: int | None = None,
) -> int:
    """Import an entry of the configuration, or several one after the other, into a table.

    path: a folder of shards of `shard_rows` rows, or one file where that is None.
    Returns the number of rows.  Memory does not depend on it.  Raises InputError as the importers do,
    with the corpus named; nothing is left at `path` then.
    """
    try:
        importers = [importer_from(entry) for entry in _several(entries)]
        schema = SCHEMA
        if any(isinstance(importer, SyntheticImporter) for importer in importers):
            schema = SCHEMA.append(pa.field("noise", pa.string()))
        make = (
            TableWriter(path, schema)
            if shard_rows is None
            else ShardWriter(path, schema, shard_rows)
        )
        with make as writer:
            for importer in importers:
                start = 0
                rows = importer.rows(languages, monolingual)
                while batch := list(islice(rows, BATCH_ROWS)):
                    writer.write(_batch(batch, name, start, schema))
                    start += len(batch)
    except InputError as error:
        raise InputError(f"corpus '{name}': {error}") from error
    log.info("corpus '%s': %s rows imported", name, f"{writer.rows:,}")
    return writer.rows


def _batch(rows: list[tuple], name: str, start: int, schema: pa.Schema) -> pa.Table:
    columns = {
        "source": [row[0] for row in rows],
        "target": [row[1] for row in rows],
        "corpus": [name] * len(rows),
        "row": range(start, start + len(rows)),
        "dropped_by": pa.nulls(len(rows), pa.string()),
        "noise": [row[2] if len(row) > 2 else None for row in rows],
    }
    return pa.table({key: columns[key] for key in schema.names}, schema=schema)
