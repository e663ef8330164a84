"""Training text as piece ids on disk, encoded once for all processes and later trainings."""

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from weebill.corpus.table import AUGMENTED_BY, read_batches, read_schema
from weebill.errors import InputError
from weebill.files import atomic_folder, content_hash, read_json, write_json
from weebill.replaceable import FolderKind, has_keys
from weebill.translation.model.batch import Batch, make_batch
from weebill.translation.model.vocabulary import Vocabulary
from weebill.workflow.code_version import code_of_module

SIDES = ("source", "target")
ABOUT = "about.json"
LINKS = "links"
ENCODED = FolderKind(
    always=(ABOUT, "weights", *(f"{side}.{part}" for side in SIDES for part in ("ids", "offsets"))),
    perhaps=("groups", f"{LINKS}.ids", f"{LINKS}.offsets"),
    mark=(ABOUT, lambda file: has_keys(file, {"identity"})),
)


def links_field(vocabulary: Vocabulary) -> pa.Field:
    """Return the field of column `links`: source and target position of each pair of linked pieces, concatenated."""
    return pa.field(LINKS, pa.list_(pa.uint16()), metadata={"vocabulary": vocabulary.sha256})


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
        self.ids = {side: _mapped(folder / f"{side}.ids", about["type"]) for side in SIDES}
        self.offsets = {side: _mapped(folder / f"{side}.offsets", "int64") for side in SIDES}
        self.weights = _mapped(folder / "weights", "float32")
        self.group_names = [tuple(group) for group in about["groups"]]
        self.groups = _mapped(folder / "groups", "uint16") if self.group_names else None
        self.links = None
        if about["linked"]:
            self.links = _mapped(folder / f"{LINKS}.ids", "uint16")
            self.link_offsets = _mapped(folder / f"{LINKS}.offsets", "int64")

    def __len__(self) -> int:
        return self.pairs

    def lengths(self, side: str) -> np.ndarray:
        """Return the number of pieces of each sentence with EOS (pairs,), int32."""
        return np.diff(self.offsets[side]).astype(np.int32)

    def batch(self, rows: np.ndarray) -> Batch:
        """Return the pairs of some rows as one batch."""
        texts = {
            side: [self.ids[side][offsets[row] : offsets[row + 1]] for row in rows]
            for side, offsets in self.offsets.items()
        }
        links = None
        if self.links is not None:
            ends = self.link_offsets
            links = [self.links[ends[row] : ends[row + 1]].reshape(-1, 2) for row in rows]
        return make_batch(texts["source"], texts["target"], self.weights[rows], links)


def encode_corpus(
    tables: Sequence[Path],
    vocabulary: Vocabulary,
    folder: Path,
    max_pieces: int,
    grouped: bool = False,
    linked: bool = False,
) -> EncodedCorpus:
    """Encode the kept pairs of corpus tables as piece ids, without pairs of more than `max_pieces` on a side.

    grouped: True if stages of the training distinguish corpora.  linked: True if alignments guide the training.
    folder: keeps the pairs for the next call, which uses them only if text, vocabulary, settings and code are the
    same; trainings may share it one after another.  Raises InputError if no pair is left, or if a table lacks the
    requested column `corpus` or `links`.
    """
    identity = {
        "tables": [content_hash(table) for table in tables],
        "vocabulary": vocabulary.sha256,
        "max_pieces": max_pieces,
        "grouped": grouped,
        "linked": linked,
        "code": code_of_module(__name__),
    }
    about = folder / ABOUT
    if not about.is_file() or read_json(about)["identity"] != identity:
        for table in tables:
            _check_columns(table, vocabulary, grouped, linked)
        with atomic_folder(folder, ENCODED) as partial:
            found = _encode(tables, vocabulary, partial, max_pieces, grouped, linked)
            write_json(partial / ABOUT, {**found, "identity": identity})
    return EncodedCorpus(folder)


def _check_columns(table: Path, vocabulary: Vocabulary, grouped: bool, linked: bool) -> None:
    schema = read_schema(table)
    if grouped and "corpus" not in schema.names:
        raise InputError(
            f"{table}: tells no corpora apart, as training.stages needs; train without stages"
        )
    if linked and LINKS not in schema.names:
        raise InputError(
            f"{table}: has no alignment, as training.guided_alignment needs; align it or set that to 0"
        )
    if linked and schema.field(LINKS).metadata != links_field(vocabulary).metadata:
        raise InputError(
            f"{table}: was aligned on the pieces of another vocabulary than {vocabulary.path}; align it anew"
        )


def _encode(
    tables: Sequence[Path],
    vocabulary: Vocabulary,
    folder: Path,
    max_pieces: int,
    grouped: bool,
    linked: bool,
) -> dict[str, Any]:
    """Write the arrays of `EncodedCorpus`; return the other values that it needs.

    The number of omitted pairs is logged.
    """
    dtype = np.dtype(np.uint16 if len(vocabulary) <= 2**16 else np.uint32)
    pairs = left_out = 0
    types = {**dict.fromkeys(SIDES, dtype), **({LINKS: np.dtype(np.uint16)} if linked else {})}
    begin = dict.fromkeys(types, 0)
    groups: dict[tuple[str, bool], int] = {}
    with ExitStack() as stack:
        names = ["weights", *(["groups"] * grouped)]
        names += [f"{array}.{part}" for array in types for part in ("ids", "offsets")]
        files = {name: stack.enter_context((folder / name).open("wb")) for name in names}
        for array in types:
            files[f"{array}.offsets"].write(np.zeros(1, np.int64))
        for rows in chain.from_iterable(read_batches(table) for table in tables):
            lists = {side: vocabulary.encode(rows[side].to_pylist()) for side in SIDES}
            good = np.array(
                [
                    max(map(len, pair)) <= max_pieces + 1
                    for pair in zip(*lists.values(), strict=True)
                ],
                dtype=bool,
            )
            if not good.any():
                left_out += len(good)
                continue
            if linked:
                lists[LINKS] = [links or [] for links in rows[LINKS].to_pylist()]
            for array, found in lists.items():
                kept = [ids for ids, fits in zip(found, good, strict=True) if fits]
                ends = begin[array] + np.cumsum([len(ids) for ids in kept], dtype=np.int64)
                begin[array] = int(ends[-1])
                files[f"{array}.offsets"].write(ends)
                files[f"{array}.ids"].write(np.concatenate(kept).astype(types[array]))
            files["weights"].write(_weights(rows)[good])
            if grouped:
                files["groups"].write(_groups(rows, groups)[good])
            pairs += int(good.sum())
            left_out += int((~good).sum())
    if not pairs:
        raise InputError(
            f"{', '.join(map(str, tables))}: no pair of at most {max_pieces} pieces is left to train on"
        )
    logging.info(
        "%s pairs to train on, %s left out with a side of more than %s pieces",
        f"{pairs:,}", f"{left_out:,}", max_pieces,
    )  # fmt: skip
    return {"pairs": pairs, "type": dtype.name, "groups": list(groups), "linked": linked}


def _weights(rows: pa.RecordBatch) -> np.ndarray:
    """Return each pair's weight (rows,), float32; 1 if the table has none."""
    if "weight" not in rows.schema.names:
        return np.ones(rows.num_rows, np.float32)
    weights = rows["weight"].to_numpy(zero_copy_only=False)
    return np.nan_to_num(weights.astype(np.float32), nan=1.0)


def _groups(rows: pa.RecordBatch, numbers: dict[tuple[str, bool], int]) -> np.ndarray:
    """Return the group of each pair (rows,), uint16, numbered in the order of appearance."""
    corpora = rows["corpus"].to_pylist()
    added = [False] * rows.num_rows
    if AUGMENTED_BY in rows.schema.names:
        added = rows[AUGMENTED_BY].is_valid().to_pylist()
    found = [numbers.setdefault(group, len(numbers)) for group in zip(corpora, added, strict=True)]
    return np.array(found, np.uint16)


def _mapped(path: Path, dtype: str) -> np.ndarray:
    if not path.stat().st_size:  # no pair has links
        return np.empty(0, dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))  # indexing a plain array is faster
