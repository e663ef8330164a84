"""The runtime against CTranslate2, both with int8 products and a lexical shortlist of the same size, on one core.

Networks of the papers' shapes with random weights translate the same sentences to outputs of the same length;
CTranslate2, which has no SSRU, has self-attention in the decoder.  It runs with AVX-512, unless
CT2_FORCE_CPU_ISA names another instruction set, and the batch size that is best for it here.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from goldcrest.commands.benchmark import Row, interleave, one_thread, pinned
from goldcrest.configuration import load_zoo
from goldcrest.quantization import quantize_model
from goldcrest.quantization.modules import quantizable_linears
from goldcrest.runtime.extension import available
from goldcrest.runtime.shortlist import Shortlist
from goldcrest.runtime.translator import Runtime
from goldcrest.translation.architecture import Architecture
from goldcrest.translation.network import Translator
from goldcrest.translation.search import SearchOptions
from goldcrest.translation.vocabulary import EOS

SENTENCES = 1000
PIECES_PER_SENTENCE, PIECES_PER_WORD = 26.0, 1.28  # of newstest2021 with a vocabulary of 32,000
FACTOR = 1.1  # output pieces per source piece
CANDIDATES = 50
BATCHES = (16, 32, 64)


def run(rounds: int, architectures: tuple[str, ...] = ("tiny", "base", "12-1.tiny")) -> list[Row]:
    """Source words per second with a shortlist, int8."""
    with one_thread():
        return [_against_ctranslate2(name, rounds) for name in architectures]


def _against_ctranslate2(name: str, rounds: int) -> Row:
    entry = load_zoo()[name]
    text = sentences(entry["vocabulary"])
    shortlist = random_shortlist(entry["vocabulary"])
    words = sum(len(one) for one in text) / PIECES_PER_WORD
    with tempfile.TemporaryDirectory() as folder, pinned():
        ours = _best(lambda batch: our_work(entry, text, shortlist, batch, words))
        other = _best(lambda batch: their_work(entry, text, shortlist, batch, words, Path(folder)))
        found = interleave(ours, other, rounds)
    return Row(
        f"runtime, {name}, int8 with shortlist, against CTranslate2", *found, "words/s", rounds
    )


def _best(make: Callable[[int], Callable[[], float]]) -> Callable[[], float]:
    """The work with the batch size that is fastest in a trial."""
    trials = {}
    for batch in BATCHES:
        work = make(batch)
        work()
        start = time.perf_counter()
        work()
        trials[time.perf_counter() - start] = work
    return trials[min(trials)]


def sentences(vocabulary: int) -> list[list[int]]:
    """Source pieces, distributed and as long as those of news, each ended."""
    draw = np.random.default_rng(1)
    lengths = np.clip(draw.gamma(3.3, PIECES_PER_SENTENCE / 3.3, SENTENCES), 2, 120).astype(int)
    return [[*(2 + zipf(draw, n, vocabulary - 2, 1.05)).tolist(), EOS] for n in lengths]


def zipf(draw: np.random.Generator, count: int, limit: int, skew: float) -> np.ndarray:
    """Ranks 0 … limit − 1 as pieces of text are distributed: p ∝ 1 / (rank + 2.7)^skew."""
    low, high = 2.7 ** (1 - skew), (limit + 2.7) ** (1 - skew)
    ranks = (low + draw.random(count) * (high - low)) ** (1 / (1 - skew)) - 2.7
    return np.minimum(ranks.astype(np.int32), limit - 1)


def random_shortlist(vocabulary: int) -> Shortlist:
    """50 candidates a piece, frequent ones more often, and the 50 most frequent pieces.

    Drawn so that batches choose among as many columns as with a real one: about 4,500 at 32 sentences.
    """
    draw = np.random.default_rng(2)
    ranks = zipf(draw, vocabulary * CANDIDATES, vocabulary - 2, 1.2) + 2
    candidates = ranks.reshape(vocabulary, CANDIDATES)
    return Shortlist(candidates, np.arange(2, 2 + CANDIDATES, dtype=np.int32))


def student(entry: dict, kind: str) -> Translator:
    """A random network that never ends a sentence by itself."""
    torch.manual_seed(1)
    network = Translator(Architecture.from_zoo({**entry, "decoder": kind}))
    with torch.no_grad():
        network.output.bias[EOS] = -1e4
    return network.eval()


def in_batches(text: list[list[int]], size: int) -> list[tuple[list[list[int]], int]]:
    """Sentences of like length together, the longest first, and the pieces of each batch's outputs."""
    order = sorted(text, key=len, reverse=True)
    batches = [order[first : first + size] for first in range(0, len(order), size)]
    return [(batch, int(FACTOR * len(batch[0]))) for batch in batches]


def our_work(entry, text, shortlist, size: int, words: float) -> Callable[[], float]:
    """Translate everything once; returns the source words."""
    network = student(entry, "ssru")
    scales = {name: 127 / 4.0 for name, _ in quantizable_linears(network)}
    runtime = Runtime(quantize_model(network, "int8", scales), available()[0], shortlist)
    batches = in_batches(text, size)

    def work() -> float:
        for batch, limit in batches:
            options = SearchOptions(
                batch_size=size,
                batch_tokens=10**6,
                length_factor=0.0,
                length_constant=limit,
                allow_unknown=True,
            )
            runtime.translate(batch, options)
        return words

    return work


def their_work(
    entry, text, shortlist, size: int, words: float, folder: Path
) -> Callable[[], float]:
    """The same by CTranslate2."""
    os.environ.setdefault("CT2_FORCE_CPU_ISA", "AVX512")  # read when it is imported
    import ctranslate2

    from goldcrest.runtime.exports.ctranslate2 import export

    pieces = ["</s>", "<unk>", *(f"p{index}" for index in range(2, entry["vocabulary"]))]
    path = folder / "model"
    if not path.exists():
        export(student(entry, "attention"), pieces, path, "int8", shortlist)
    translator = ctranslate2.Translator(
        str(path), "cpu", compute_type="int8", inter_threads=1, intra_threads=1
    )
    batches = [
        ([[pieces[piece] for piece in source[:-1]] for source in batch], limit)
        for batch, limit in in_batches(text, size)
    ]

    def work() -> float:
        for batch, limit in batches:
            translator.translate_batch(
                batch,
                beam_size=1,
                use_vmap=True,
                max_decoding_length=limit,
                min_decoding_length=limit,
            )
        return words

    return work
