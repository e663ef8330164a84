"""Training text as piece ids on disk, encoded once for all processes and later trainings."""

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import chain, tee
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from weebill.corpus.table import AUGMENTED_BY, TableWriter, read_batches, read_schema
from weebill.errors import InputError
from weebill.files import (
    atomic_folder,
    content_hash,
    exclusive_folder,
    read_json,
    sha256_text,
    write_json,
)
from weebill.replaceable import FolderKind, has_keys
from weebill.translation.model.batch import Batch, join, pad_joined
from weebill.translation.training.pieces import encoded, joined
from weebill.workflow.code_version import code_of_module
from weebill_runtime.names import SIDES
from weebill_runtime.vocabulary import AnyVocabulary

ABOUT = "about.json"
LINKS = "links"
ENCODED = FolderKind(
    always=(ABOUT, "weights", *(f"{side}.{part}" for side in SIDES for part in ("ids", "offsets"))),
    perhaps=("groups", f"{LINKS}.ids", f"{LINKS}.offsets"),
    mark=(ABOUT, lambda file: has_keys(file, {"identity"})),
)


def links_field(vocabulary: AnyVocabulary) -> pa.Field:
    """Return the field of column `links`: source and target position of each pair of linked pieces, concatenated."""
    return pa.field(LINKS, pa.list_(pa.uint16()), metadata={"vocabulary": vocabulary.sha256})


def write_links(
    table: str | Path,
    output: str | Path,
    vocabulary: AnyVocabulary,
    find: Callable[[pa.RecordBatch], list[list[int] | None]],
) -> None:
    """Write the kept rows of a training text with the column `links`.  find: returns the links of a batch's rows."""
    schema, field = read_schema(table), links_field(vocabulary)
    names = [name for name in schema.names if name != "dropped_by"]
    with TableWriter(output, pa.schema([*map(schema.field, names), field])) as writer:
        for batch in read_batches(table, names):
            links = pa.array(find(batch), field.type)
            writer.write(pa.table(batch).append_column(field, links))


class EncodedCorpus:
    """Parallel corpus as piece ids in memory-mapped files, which the processes of a machine share.

    Each side has `SIDE.ids`, all its pieces concatenated, and `SIDE.offsets` (pairs + 1,), the beginnings of its
    sentences; `weights` is (pairs,).  identity: identity of text, vocabulary, settings and code.  groups (pairs,), if
    requested: index in `group_names` of each pair's group, (corpus, True if augmentation added the row).  `links.ids`
    and `links.offsets`, if requested: positions of linked pieces, as in column `links`.
    """

    def __init__(self, folder: Path):
        about = read_json(folder / ABOUT)
        self.pairs, self.identity = about["pairs"], about["identity"]
        types = _types(about["type"], about["linked"])
        self.ids = {array: _mapped(folder / f"{array}.ids", kind) for array, kind in types.items()}
        self.offsets = {array: _mapped(folder / f"{array}.offsets", "int64") for array in types}
        self.weights = _mapped(folder / "weights", "float32")
        self.group_names = [tuple(group) for group in about["groups"]]
        self.groups = _mapped(folder / "groups", "uint16") if self.group_names else None

    def __len__(self) -> int:
        return self.pairs

    def lengths(self, side: str) -> np.ndarray:
        """Return the number of pieces of each sentence with EOS (pairs,), int32."""
        return np.diff(self.offsets[side]).astype(np.int32)

    def batch(self, rows: np.ndarray) -> Batch:
        """Return the pairs of some rows as one batch."""
        source, target = (pad_joined(*self._joined(side, rows)) for side in SIDES)
        links = None
        if LINKS in self.offsets:
            flat, lengths = self._joined(LINKS, rows)
            ends = np.cumsum(lengths)[:-1]
            links = [each.reshape(-1, 2) for each in np.split(flat, ends)]
        return join(source, target, self.weights[rows], links)

    def _joined(self, array: str, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of some rows of an array, concatenated, and their lengths (rows,)."""
        begins = self.offsets[array][rows]
        lengths = self.offsets[array][rows + 1] - begins
        # Difference between a number's place in the array and its place in the result.
        shifts = begins - np.cumsum(lengths) + lengths
        return self.ids[array][np.repeat(shifts, lengths) + np.arange(lengths.sum())], lengths


def encode_corpus(
    tables: Sequence[str | Path],
    vocabulary: AnyVocabulary,
    folder: str | Path,
    max_pieces: int,
    grouped: bool = False,
    linked: bool = False,
    processes: int = 1,
) -> EncodedCorpus:
    """Encode the kept pairs of corpus tables as piece ids, without pairs of more than `max_pieces` on a side.

    grouped: True if stages of the training distinguish corpora.  linked: True if alignments guide the training.
    processes: number of processes that encode; the result does not depend on it.
    folder: keeps the pairs for the next call with the same text, vocabulary, settings and code.  Raises InputError if
    no pair is left, or if a table lacks the requested column `corpus` or `links`.
    """
    identity = {
        "tables": [content_hash(table) for table in tables],
        "vocabulary": vocabulary.sha256,
        "max_pieces": max_pieces,
        "grouped": grouped,
        "linked": linked,
        "code": code_of_module(__name__),
    }
    about = Path(folder, ABOUT)
    if not about.is_file() or read_json(about)["identity"] != identity:
        for table in tables:
            _check_columns(table, vocabulary, grouped, linked)
        with atomic_folder(folder, ENCODED) as partial:
            found = _encode(tables, vocabulary, partial, max_pieces, grouped, linked, processes)
            write_json(partial / ABOUT, {**found, "identity": identity})
    return EncodedCorpus(Path(folder))


def shared_corpus(
    tables: Sequence[str | Path],
    vocabulary: AnyVocabulary,
    folder: str | Path,
    *limits: Any,
) -> EncodedCorpus:
    """Return the result of `encode_corpus`, from a folder of encoded corpora that processes and trainings share.

    The first process that needs the corpus encodes it; others wait.  limits: further arguments of `encode_corpus`.
    """
    key = [*map(content_hash, tables), vocabulary.sha256, *limits[:3]]
    place = Path(folder, sha256_text(json.dumps(key))[:16])
    with exclusive_folder(place):
        return encode_corpus(tables, vocabulary, place / "pairs", *limits)


def _check_columns(
    table: str | Path, vocabulary: AnyVocabulary, grouped: bool, linked: bool
) -> None:
    schema = read_schema(table)
    if grouped and "corpus" not in schema.names:
        message = f"{table}: tells no corpora apart, as training.stages needs; train without stages"
        raise InputError(message)
    if linked and LINKS not in schema.names:
        message = f"{table}: has no alignment, as training.guided_alignment needs; align it or set that to 0"
        raise InputError(message)
    if linked and schema.field(LINKS).metadata != links_field(vocabulary).metadata:
        path = vocabulary.target.path
        message = (
            f"{table}: was aligned on the pieces of another vocabulary than {path}; align it anew"
        )
        raise InputError(message)


def _encode(
    tables: Sequence[str | Path],
    vocabulary: AnyVocabulary,
    folder: Path,
    max_pieces: int,
    grouped: bool,
    linked: bool,
    processes: int,
) -> dict[str, Any]:
    """Write the arrays of `EncodedCorpus`, and log the number of omitted pairs; return the other values it needs."""
    largest = max(len(getattr(vocabulary, side)) for side in SIDES)
    dtype = "uint16" if largest <= 2**16 else "uint32"
    types = _types(dtype, linked)
    ends = dict.fromkeys(types, 0)
    pairs = rows_read = 0
    groups: dict[tuple[str, bool], int] = {}
    with ExitStack() as stack:
        names = [f"{array}.{part}" for array in types for part in ("ids", "offsets")]
        names += ["weights", *(["groups"] * grouped)]
        files = {name: stack.enter_context((folder / name).open("wb")) for name in names}
        for array in types:
            files[f"{array}.offsets"].write(np.zeros(1, np.int64))
        every, again = tee(chain.from_iterable(read_batches(table) for table in tables))
        texts = (tuple(rows[side].to_pylist() for side in SIDES) for rows in again)
        for rows, found in zip(every, encoded(texts, vocabulary, processes), strict=True):
            arrays = dict(zip(SIDES, found, strict=True))
            good = np.maximum(*(lengths for _, lengths in found)) <= max_pieces + 1
            rows_read, pairs = rows_read + len(good), pairs + int(good.sum())
            if not good.any():
                continue
            if linked:
                arrays[LINKS] = joined([links or [] for links in rows[LINKS].to_pylist()])
            for array, (flat, lengths) in arrays.items():
                offsets = ends[array] + np.cumsum(lengths[good])
                ends[array] = int(offsets[-1])
                files[f"{array}.offsets"].write(offsets)
                files[f"{array}.ids"].write(flat[np.repeat(good, lengths)].astype(types[array]))
            files["weights"].write(_weights(rows)[good])
            if grouped:
                files["groups"].write(_groups(rows, groups)[good])
    if not pairs:
        message = f"{', '.join(map(str, tables))}: no pair of at most {max_pieces} pieces is left to train on"
        raise InputError(message)
    logging.info(
        f"{pairs:,} pairs to train on, {rows_read - pairs:,} left out with a side of more than {max_pieces} pieces"
    )
    return {"pairs": pairs, "type": dtype, "groups": list(groups), "linked": linked}


def _types(pieces: str, linked: bool) -> dict[str, str]:
    """Return the type of the numbers of each side and, if requested, of the links."""
    return dict.fromkeys(SIDES, pieces) | ({LINKS: "uint16"} if linked else {})


def _weights(rows: pa.RecordBatch) -> np.ndarray:
    """Return each pair's weight (rows,), float32; 1 if the table has none."""
    if "weight" not in rows.schema.names:
        return np.ones(rows.num_rows, np.float32)
    weights = rows["weight"].to_numpy(zero_copy_only=False)
    return np.nan_to_num(weights.astype(np.float32), nan=1.0)


def _groups(rows: pa.RecordBatch, numbers: dict[tuple[str, bool], int]) -> np.ndarray:
    """Return the group of each pair (rows,), uint16, numbered in the order of appearance."""
    groups = zip(rows["corpus"].to_pylist(), augmented(rows), strict=True)
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], np.uint16)


def augmented(rows: pa.RecordBatch) -> list[bool]:
    """Return True for each row that augmentation added."""
    if AUGMENTED_BY not in rows.schema.names:
        return [False] * rows.num_rows
    return rows[AUGMENTED_BY].is_valid().to_pylist()


def _mapped(path: Path, dtype: str) -> np.ndarray:
    if not path.stat().st_size:  # no pair has links
        return np.empty(0, dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))  # indexing a plain array is faster
