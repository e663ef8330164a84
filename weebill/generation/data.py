"""Text for training and measurement: articles with their summaries, or running text, in three parts.

A part is a JSON Lines file with rows {"article", "summary"} or {"text"}.  Missing validation and test parts are drawn
from the training text by a hash of each article or block, so that equal texts go to the same part of every data set.
A text in several given parts stays in the test part or, if it is not there, in the validation part.
An entry may take a sample of its rows, which is drawn by another hash, independently of the parts.
"""

import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from weebill.corpus.importers.hugging_face import HuggingFaceImporter
from weebill.corpus.importers.reading import HALF, SURROGATES
from weebill.corpus.importers.records import JSON_LINES, TABLE, field_values
from weebill.corpus.sources import Places, local_file
from weebill.errors import InputError
from weebill.files import atomic_folder, read_json, sha256_file, write_json
from weebill.generation.sampling import SAMPLED, Row, drawn, sample
from weebill.replaceable import FolderKind, has_keys
from weebill.settings import (
    Commit,
    Count,
    NonZeroShare,
    PartialShare,
    Place,
    Seed,
    Several,
    Sha256,
    Text,
    section,
)
from weebill.text_files import ANY_LENGTH, read_lines

Task = Literal["summarization", "language-modelling"]
Part = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = ("train", "validation", "test")
KEYS: dict[Task, tuple[str, ...]] = {
    "summarization": ("article", "summary"),  # parts are drawn by the first
    "language-modelling": ("text",),
}
DATA = FolderKind(
    always=("data.json", *(f"{part}.jsonl" for part in PARTS)),
    mark=("data.json", lambda file: has_keys(file, {"task", "rows", "sha256"})),
)
_HALVES = re.compile(f"[{SURROGATES}]")
BLOCK = 2000  # least characters of a block of running text; parts are drawn from blocks


@section
class TextEntry:
    """File of JSON Lines or Parquet, or data set on the Hugging Face hub or in a folder of the same layout.

    A file of running text may also be plain text. Files may be compressed.
    """

    path: Place | None = None
    """File or URL."""
    sha256: Sha256 | None = None
    """Checksum of the file; a URL needs one."""
    name: Text | None = None
    """Name of a data set on the hub."""
    revision: Commit | None = None
    """Commit of the data set."""
    folder: Place | None = None
    """Folder of such a data set."""
    config: Text | None = None
    """Configuration, by its name in the data set's card."""
    split: Text | None = None
    """Split of the data set, by default `train`."""
    share: NonZeroShare | None = None
    """Share of the entry's rows to take, such as 0.01 of a large data set; by default all. A hash of a row's text and
    the seed decides, so equal texts go together. Running text that is not in documents is taken in blocks."""
    take: Count | None = None
    """Number of rows to take, instead of `share`: those with the lowest hashes, in the order of the files."""


@section
class Fields:
    """Fields of rows; dots lead into nested fields."""

    article: Text | None = None
    """Field of a row's article, by default `article`."""
    summary: Text | None = None
    """Field of a row's summary, by default `summary`."""
    text: Text | None = None
    """Field of a row of running text, by default `text`."""


@section
class TextData:
    """Text on which models are trained and measured."""

    task: Task
    """Task: `summarization` of articles with summaries, or `language-modelling` of running text."""
    train: Several[TextEntry]
    """Entries of the training text, with the keys below."""
    validation: tuple[TextEntry, ...] = ()
    """Entries of the validation text."""
    test: tuple[TextEntry, ...] = ()
    """Entries of the test text."""
    fields: Fields = Fields()
    """Fields of rows whose names differ from those of the task; dots lead into nested fields."""
    rows: Literal["documents", "lines"] = "documents"
    """Content of a row of running text: one of the `documents`, or one of the `lines`, which may be empty."""
    empty_rows: Literal["refuse", "leave_out"] = "refuse"
    """Rows with an empty text: `refuse` stops the import; `leave_out` imports the other rows, and `data.json` counts
    the omitted ones. Use it for data sets that you cannot mend, such as those of the hub."""
    validation_share: PartialShare = 0.1
    """Share of the training text that becomes validation text if `validation` has no entries."""
    test_share: PartialShare = 0.1
    """Share of the training text that becomes test text if `test` has no entries."""
    seed: Seed = 1
    """Seed of the random choice of these shares, and of the rows that an entry takes by `share` or `take`."""

    @property
    def columns(self) -> list[str]:
        """Fields of the task's keys in the rows of files."""
        return [getattr(self.fields, key) or key for key in KEYS[self.task]]


def import_data(settings: TextData, folder: str | Path, places: Places | None = None) -> None:
    """Write the three parts and data.json (counts, omitted texts, checksums) as a folder, atomically.

    Raises InputError naming file and row if a field is missing, empty or not text, or a part has no rows.
    """
    parts, left_out = split(settings, places or Places())
    for part, rows in parts.items():
        if not rows:
            remedy = "raise its share, or name files of it"
            if settings.task == "language-modelling":
                remedy = (
                    "parts are drawn from blocks that end at blank lines, so put some between the documents, "
                    f"{remedy}"
                )
            raise InputError(f"data: no text in the {part} part; {remedy}")
    with atomic_folder(folder, DATA) as partial:
        for part, rows in parts.items():
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (partial / f"{part}.jsonl").write_text(text, encoding="utf-8", newline="")
        facts = {
            "task": settings.task,
            "rows": {part: len(rows) for part, rows in parts.items()},
            **left_out,
            "sha256": {part: sha256_file(partial / f"{part}.jsonl") for part in parts},
        }
        write_json(partial / "data.json", facts)


def read_part(folder: str | Path, part: Part) -> list[Row]:
    """Read the rows of a part of an imported folder."""
    lines = read_lines(Path(folder) / f"{part}.jsonl", ANY_LENGTH)
    return [json.loads(line) for line in lines]


def task_of(folder: str | Path) -> Task:
    """Read the task of an imported folder."""
    return read_json(Path(folder) / "data.json")["task"]


def data_hash(folder: str | Path) -> str:
    """Return the hash of an imported folder, which identifies the data in a model's lineage."""
    return sha256_file(Path(folder) / "data.json")


def split(settings: TextData, places: Places) -> tuple[dict[Part, list[Row]], dict[str, int]]:
    """Return the rows of each part, in the order of the files, and numbers of omitted rows, by the reason."""
    key = KEYS[settings.task][0]
    shares = {
        "test": 0.0 if settings.test else settings.test_share,
        "validation": 0.0 if settings.validation else settings.validation_share,
    }
    parts: dict[Part, list[Row]] = {part: [] for part in PARTS}
    counts: Counter[str] = Counter()
    for part in PARTS:
        divided = part == "train" and any(shares.values())
        for index, entry in enumerate(getattr(settings, part)):
            blocks = divided or not entry.keys().isdisjoint(SAMPLED)
            rows = _full(read_entry(entry, settings, places, blocks), counts)
            for row in sample(rows, entry, key, settings.seed, f"{part}[{index}]"):
                chosen = drawn_part(row[key], settings.seed, shares) if divided else part
                parts[chosen].append(row)
    read = sum(map(len, parts.values()))
    taken: set[str] = set()
    for part in reversed(PARTS):
        parts[part] = [row for row in parts[part] if row[key] not in taken]
        taken.update(row[key] for row in parts[part])
    left_out = {"left_out_as_double": read - sum(map(len, parts.values()))}
    if settings.empty_rows == "leave_out":
        left_out["left_out_as_empty"] = counts["empty"]
        if counts["empty"]:
            logging.warning("data: %s rows with an empty text left out", f"{counts['empty']:,}")
    return parts, left_out


def _full(rows: Iterable[Row], counts: Counter[str]) -> Iterator[Row]:
    """Yield the rows without an empty text; count the others as "empty"."""
    for row in rows:
        if all(map(str.strip, row.values())):
            yield row
        else:
            counts["empty"] += 1


def drawn_part(text: str, seed: int, shares: Mapping[str, float]) -> Part:
    """Return the part of a text; it depends only on the characters and the seed."""
    place = drawn(text, seed)
    for part, share in shares.items():
        if place < share:
            return part
        place -= share
    return "train"


def read_entry(
    entry: Mapping[str, Any], settings: TextData, places: Places, blocks: bool
) -> Iterator[Row]:
    """Read the rows of an entry; blocks: divide running text into blocks of paragraphs, else a file is one row."""
    joined = settings.task == "language-modelling" and settings.rows == "lines"
    for path, place in _files(entry, settings, places):
        if place.lower().endswith((TABLE, *JSON_LINES)):
            rows = _rows(path, place, settings, joined or settings.empty_rows == "leave_out")
            if not joined:
                yield from rows
                continue
            lines = [row["text"].removesuffix("\n") for row in rows]
        elif settings.task == "language-modelling":
            lines = list(read_lines(path, ANY_LENGTH))  # a book may be one line
        else:
            raise InputError(
                f"{path}: plain text has no summaries; give JSON Lines or Parquet with "
                f"{' and '.join(settings.columns)}"
            )
        if not any(line.strip() for line in lines):
            raise InputError(f"{path}: holds no text; check the path in the configuration")
        texts = text_blocks(lines) if blocks else ["".join(f"{line}\n" for line in lines)]
        yield from ({"text": text} for text in texts)


def text_blocks(lines: Iterable[str], size: int = BLOCK) -> Iterator[str]:
    """Cut running text after blank lines into blocks of at least `size` characters; together they are the text."""
    block = ""
    for line in lines:
        block += f"{line}\n"
        if not line.strip() and len(block) >= size:
            yield block
            block = ""
    if block.strip():
        yield block


def _files(
    entry: Mapping[str, Any], settings: TextData, places: Places
) -> Iterator[tuple[Path, str]]:
    """Return the places of an entry's files, and their original names."""
    if "path" in entry:
        place = str(entry["path"])
        yield local_file(place, entry.get("sha256"), places), place
        return
    source, *rest = settings.columns
    fields = {"source_field": source, "target_field": rest[0] if rest else None}
    named = {key: value for key, value in entry.items() if key not in SAMPLED}
    importer = HuggingFaceImporter(**fields, **named)
    for found in importer.sources(("", ""), None if rest else "source", places):
        yield places.path(found), found.place


def _rows(path: Path, place: str, settings: TextData, empty: bool) -> Iterator[Row]:
    """Read the rows of a table or of JSON Lines, with texts that are not empty unless `empty` allows it."""
    remedy = "name the right one under `fields`"
    for number, texts in enumerate(field_values(path, settings.columns, place), start=1):
        for column, text in zip(settings.columns, texts, strict=True):
            fault = None
            if text is None:
                fault = f"no field '{column}'; {remedy}"
            elif not isinstance(text, str):
                fault = f"field '{column}' is {type(text).__name__}, expected text; {remedy}"
            elif not text.isascii() and _HALVES.search(text):
                fault = f"field '{column}' holds {HALF}; mend the row"
            elif not text.strip() and not empty:
                fault = f"field '{column}' is empty; remove the row, or set empty_rows: leave_out"
            if fault is not None:
                raise InputError(f"{path}:{number}: {fault}")
        yield dict(zip(KEYS[settings.task], texts, strict=True))
