"""Training batches: encoded text on disk, and a stream of token-budget batches that can start anywhere.

Sentences are shuffled over the whole epoch; within a window of that order they are sorted by length and cut
into batches of bounded size, and the window's batches are shuffled again.  So batches have little padding, and
the order of lengths in training is still random (no bucketing bias).  Batch number n depends on the seed and n
alone: a resumed run, or each of several devices, reads the same stream.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from goldcrest.corpus.table import read_batches
from goldcrest.errors import InputError
from goldcrest.files import atomic_folder, read_json, write_json
from goldcrest.translation.network import START
from goldcrest.translation.vocabulary import EOS, Vocabulary

WINDOW = 50  # batches that are sorted by length together


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
    """A parallel corpus as piece ids in memory-mapped files, made once per training."""

    def __init__(self, folder: Path):
        size = read_json(folder / "size.json")
        self.sides = {
            side: np.load(folder / f"{side}.npy", mmap_mode="r") for side in ("source", "target")
        }
        self.offsets = {side: np.load(folder / f"{side}.offsets.npy") for side in self.sides}
        self.weights = np.load(folder / "weight.npy")
        self.pairs = size["pairs"]

    def __len__(self) -> int:
        return self.pairs

    def lengths(self, side: str) -> np.ndarray:
        """Pieces per sentence with EOS (pairs,)."""
        return np.diff(self.offsets[side])

    def batch(self, rows: np.ndarray) -> Batch:
        """The pairs of some rows as one batch."""
        texts = {
            side: [ids[offsets[row] : offsets[row + 1]] for row in rows]
            for side, ids in self.sides.items()
            for offsets in (self.offsets[side],)
        }
        return make_batch(texts["source"], texts["target"], self.weights[rows])


def encode_corpus(
    tables: Sequence[Path], vocabulary: Vocabulary, folder: Path, max_pieces: int
) -> EncodedCorpus:
    """Encode the kept pairs of corpus tables once; pairs with more than `max_pieces` a side are left out.

    Raises InputError where nothing is left to train on.
    """
    if not (folder / "size.json").is_file():
        with atomic_folder(folder) as partial:
            _encode(tables, vocabulary, partial, max_pieces)
    return EncodedCorpus(folder)


def _encode(tables: Sequence[Path], vocabulary: Vocabulary, folder: Path, max_pieces: int) -> None:
    dtype = np.uint16 if len(vocabulary) <= 2**16 else np.uint32
    lengths: dict[str, list[np.ndarray]] = {"source": [], "target": []}
    weights, left_out = [], 0
    files = {side: (folder / f"{side}.raw").open("wb") for side in lengths}
    for rows in chain.from_iterable(read_batches(table) for table in tables):
        sides = {side: vocabulary.encode(rows[side].to_pylist()) for side in lengths}
        good = np.array(
            [max(len(s), len(t)) <= max_pieces + 1 for s, t in zip(*sides.values(), strict=True)],
            dtype=bool,
        )
        left_out += int((~good).sum())
        for side, sentences in sides.items():
            kept = [ids for ids, fits in zip(sentences, good, strict=True) if fits]
            lengths[side].append(np.array([len(ids) for ids in kept], dtype=np.int64))
            if kept:
                files[side].write(np.concatenate(kept).astype(dtype).tobytes())
        has_weight = "weight" in rows.schema.names
        weight = rows["weight"].to_numpy(zero_copy_only=False) if has_weight else np.ones(len(good))
        weights.append(np.nan_to_num(weight[good], nan=1.0).astype(np.float32))
    pairs = sum(len(part) for part in weights)
    if not pairs:
        raise InputError(
            f"{', '.join(map(str, tables))}: no pair of at most {max_pieces} pieces is left to train on"
        )
    for side, file in files.items():
        file.close()
        raw = np.memmap(file.name, dtype=dtype, mode="r")
        np.save(folder / f"{side}.npy", raw)
        Path(file.name).unlink()
        np.save(
            folder / f"{side}.offsets.npy",
            np.concatenate([[0], np.cumsum(np.concatenate(lengths[side]))]),
        )
    np.save(folder / "weight.npy", np.concatenate(weights))
    write_json(folder / "size.json", {"pairs": pairs, "left_out": left_out})


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
