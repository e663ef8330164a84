"""Training batches: encoded text on disk, and a stream of token-budget batches that can start anywhere.

Sentences are shuffled over the whole epoch; within a window of that order they are sorted by length and cut
into batches of bounded size, and the window's batches are shuffled again.  So batches have little padding, and
the order of lengths in training is still random (no bucketing bias).  Batch number n depends on the seed and n
alone: a resumed run, or each of several devices, reads the same stream.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from goldcrest.code_version import code_version
from goldcrest.corpus.table import read_batches
from goldcrest.errors import InputError
from goldcrest.files import atomic_folder, content_hash, read_json, write_json
from goldcrest.translation.network import START
from goldcrest.translation.vocabulary import EOS, Vocabulary

WINDOW = 50  # batches that are sorted by length together
SIDES = ("source", "target")
ABOUT = "about.json"


@dataclass(frozen=True)
class Batch:
    """b padded sentence pairs.

    source (b, s) and its mask; decoder_input (b, t), START first; target (b, t), EOS last; target_mask (b, t);
    weight (b,): each pair's weight in the loss.
    """

    source: Tensor
    source_mask: Tensor
    decoder_input: Tensor
    target: Tensor
    target_mask: Tensor
    weight: Tensor

    @property
    def words(self) -> int:
        """Target pieces including EOS."""
        return int(self.target_mask.sum())

    def to(self, device: torch.device) -> "Batch":
        """The batch on another device."""
        return Batch(
            **{name: value.to(device, non_blocking=True) for name, value in vars(self).items()}
        )


def make_batch(sources: list, targets: list, weights=None) -> Batch:
    """Pad lists of piece ids (EOS last) into a batch."""
    source, source_mask = pad(sources)
    target, target_mask = pad(targets)
    start = torch.full((len(target), 1), START)
    weight = (
        torch.ones(len(sources))
        if weights is None
        else torch.as_tensor(weights, dtype=torch.float32)
    )
    decoder_input = torch.cat([start, target[:, :-1]], dim=1)
    return Batch(source, source_mask, decoder_input, target, target_mask, weight)


def pad(sentences: list) -> tuple[Tensor, Tensor]:
    """Lists of ids → ids (b, longest) filled up with EOS, and the mask of real positions."""
    lengths = torch.tensor([len(ids) for ids in sentences])
    mask = torch.arange(int(lengths.max()))[None, :] < lengths[:, None]
    ids = torch.full(mask.shape, EOS)
    ids[mask] = torch.from_numpy(np.concatenate([np.asarray(s, dtype=np.int64) for s in sentences]))
    return ids, mask


class EncodedCorpus:
    """A parallel corpus as piece ids in memory-mapped files, which the processes of a machine share.

    Each side has `SIDE.ids`, all its pieces in a row, and `SIDE.offsets` (pairs + 1,), where each sentence
    begins; `weights` (pairs,).  identity: what it was made of.
    """

    def __init__(self, folder: Path):
        about = read_json(folder / ABOUT)
        self.pairs, self.identity = about["pairs"], about["identity"]
        self.ids = {side: _mapped(folder / f"{side}.ids", about["type"]) for side in SIDES}
        self.offsets = {side: _mapped(folder / f"{side}.offsets", "int64") for side in SIDES}
        self.weights = _mapped(folder / "weights", "float32")

    def __len__(self) -> int:
        return self.pairs

    def lengths(self, side: str) -> np.ndarray:
        """Pieces per sentence with EOS (pairs,), int32."""
        return np.diff(self.offsets[side]).astype(np.int32)

    def batch(self, rows: np.ndarray) -> Batch:
        """The pairs of some rows as one batch."""
        texts = {
            side: [self.ids[side][offsets[row] : offsets[row + 1]] for row in rows]
            for side, offsets in self.offsets.items()
        }
        return make_batch(texts["source"], texts["target"], self.weights[rows])


def encode_corpus(
    tables: Sequence[Path], vocabulary: Vocabulary, folder: Path, max_pieces: int
) -> EncodedCorpus:
    """The kept pairs of corpus tables as piece ids; pairs with more than `max_pieces` a side are left out.

    folder: holds them for the next call, which trusts them only if made of the same text, vocabulary,
    `max_pieces` and code; trainings may share it one after another.  Raises InputError where nothing is left to
    train on.
    """
    identity = {
        "tables": [content_hash(table) for table in tables],
        "vocabulary": vocabulary.sha256,
        "max_pieces": max_pieces,
        "code": code_version("translation.batches", "translation.vocabulary"),
    }
    about = folder / ABOUT
    if not about.is_file() or read_json(about)["identity"] != identity:
        with atomic_folder(folder) as partial:
            found = _encode(tables, vocabulary, partial, max_pieces)
            write_json(partial / ABOUT, {**found, "identity": identity})
    return EncodedCorpus(folder)


def _encode(
    tables: Sequence[Path], vocabulary: Vocabulary, folder: Path, max_pieces: int
) -> dict[str, Any]:
    """Write the arrays of `EncodedCorpus`; returns their number of pairs and the type of ids.

    How many pairs are left out is logged.
    """
    dtype = np.dtype(np.uint16 if len(vocabulary) <= 2**16 else np.uint32)
    pairs = left_out = 0
    begin = dict.fromkeys(SIDES, 0)
    with ExitStack() as stack:
        names = ["weights", *(f"{side}.{part}" for side in SIDES for part in ("ids", "offsets"))]
        files = {name: stack.enter_context((folder / name).open("wb")) for name in names}
        for side in SIDES:
            files[f"{side}.offsets"].write(np.zeros(1, np.int64))
        for rows in chain.from_iterable(read_batches(table) for table in tables):
            sides = {side: vocabulary.encode(rows[side].to_pylist()) for side in SIDES}
            good = np.array(
                [
                    max(map(len, pair)) <= max_pieces + 1
                    for pair in zip(*sides.values(), strict=True)
                ],
                dtype=bool,
            )
            if not good.any():
                left_out += len(good)
                continue
            for side, sentences in sides.items():
                kept = [ids for ids, fits in zip(sentences, good, strict=True) if fits]
                ends = begin[side] + np.cumsum([len(ids) for ids in kept], dtype=np.int64)
                begin[side] = int(ends[-1])
                files[f"{side}.offsets"].write(ends)
                files[f"{side}.ids"].write(np.concatenate(kept).astype(dtype))
            files["weights"].write(_weights(rows)[good])
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
    return {"pairs": pairs, "type": dtype.name}


def _weights(rows: pa.RecordBatch) -> np.ndarray:
    """Each pair's weight (rows,), float32: 1 where the table gives none."""
    if "weight" not in rows.schema.names:
        return np.ones(rows.num_rows, np.float32)
    weights = rows["weight"].to_numpy(zero_copy_only=False)
    return np.nan_to_num(weights.astype(np.float32), nan=1.0)


def _mapped(path: Path, dtype: str) -> np.ndarray:
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))  # indexing a plain array is faster


def batch_stream(
    corpus: EncodedCorpus, batch_tokens: int, seed: int, first: int = 0
) -> Iterator[np.ndarray]:
    """Endless batches as arrays of row numbers, from batch number `first` on.

    A batch holds at most `batch_tokens` positions of source plus target, padding counted, and at least one pair.
    """
    source, target = corpus.lengths("source"), corpus.lengths("target")
    mean = float(source.mean() + target.mean())
    window_rows = max(1, int(WINDOW * batch_tokens / mean))
    number, epoch = 0, 0
    while True:
        order = np.random.default_rng((seed, epoch)).permutation(len(corpus))
        for window, begin in enumerate(range(0, len(order), window_rows)):
            rows = order[begin : begin + window_rows]
            rows = rows[np.lexsort((rows, source[rows], target[rows]))]
            cuts = _cut(source[rows], target[rows], batch_tokens)
            if number + len(cuts) <= first:
                number += len(cuts)
                continue
            for index in np.random.default_rng((seed, epoch, window + 1)).permutation(len(cuts)):
                if number >= first:
                    yield rows[slice(*cuts[index])]
                number += 1
        epoch += 1


def _cut(source: np.ndarray, target: np.ndarray, budget: int) -> list[tuple[int, int]]:
    """Consecutive stretches (begin, end) whose padded size stays within the budget."""
    cuts, begin, longest_source, longest_target = [], 0, 0, 0
    for row, (s, t) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        longest_source, longest_target = max(longest_source, s), max(longest_target, t)
        if row > begin and (row - begin + 1) * (longest_source + longest_target) > budget:
            cuts.append((begin, row))
            begin, longest_source, longest_target = row, s, t
    cuts.append((begin, len(source)))
    return cuts
