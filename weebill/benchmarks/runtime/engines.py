"""Our runtime and CTranslate2 with the same interface, and their input: random networks, sentences like news.

An engine is made with a network (`Case`).  `prepare` divides a text into batches of `size` sentences; `translate`
translates it once, and returns the seconds of each batch.
CTranslate2 has no SSRU, so its decoder has self-attention.  It runs in its own process, because it reads its
instruction set and its library for matrix products from the environment when it is imported.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import torch

from weebill.evaluation.timing.processes import Worker
from weebill.evaluation.timing.timer import timed
from weebill.kernels.extension import available
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.runtime.translator import Runtime
from weebill.translation.model.network import Translator
from weebill_runtime.architecture import Architecture
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import EOS

PIECES_PER_SENTENCE, PIECES_PER_WORD = 26.0, 1.28  # newstest2021 with 32,000 pieces
FACTOR = 1.1  # output pieces per source piece
CANDIDATES = 50

Sources = list[list[int]]


@dataclass(frozen=True)
class Case:
    """Network to measure: shape, type of numbers (float32 or int8), and True if it has a shortlist."""

    architecture: Architecture
    precision: str = "int8"
    shortlist: bool = True


def sentences(vocabulary: int, count: int, seed: int = 1) -> Sources:
    """Draw sentences of source pieces, with the distribution and lengths of news; each ends in EOS."""
    draw = np.random.default_rng(seed)
    lengths = np.clip(draw.gamma(3.3, PIECES_PER_SENTENCE / 3.3, count), 2, 120).astype(int)
    return [[*(2 + zipf(draw, n, vocabulary - 2, 1.05)).tolist(), EOS] for n in lengths]


def words(text: Sources) -> float:
    """Return the number of words that corresponds to the pieces of a text."""
    return sum(map(len, text)) / PIECES_PER_WORD


def zipf(draw: np.random.Generator, count: int, limit: int, skew: float) -> np.ndarray:
    """Draw ranks 0 … limit − 1 with the distribution of pieces in text: p ∝ 1 / (rank + 2.7)^skew."""
    low, high = 2.7 ** (1 - skew), (limit + 2.7) ** (1 - skew)
    ranks = (low + draw.random(count) * (high - low)) ** (1 / (1 - skew)) - 2.7
    return np.minimum(ranks.astype(np.int32), limit - 1)


def random_shortlist(vocabulary: int) -> Shortlist:
    """Draw 50 candidates for each piece, frequent ones more often, and add the 50 most frequent pieces.

    Batches then have as many columns as with a real shortlist: about 4,500 for 32 sentences.
    """
    ranks = zipf(np.random.default_rng(2), vocabulary * CANDIDATES, vocabulary - 2, 1.2) + 2
    candidates = ranks.reshape(vocabulary, CANDIDATES)
    return Shortlist(candidates, np.arange(2, 2 + CANDIDATES, dtype=np.int32))


def random_network(case: Case) -> Translator:
    """Make a random network that never ends a sentence by itself; int8 has one activation scale for all layers.

    One weight of each matrix is twice as large as any other, so most codes are below 64.  Then engines that add two
    products of bytes in 16 bits (intgemm on AVX2) compute the same sums as the others.
    """
    torch.manual_seed(1)
    network = Translator(case.architecture)
    with torch.no_grad():
        network.output.bias[EOS] = -1e4
        for parameter in network.parameters():
            if parameter.dim() == 2 and parameter.numel():  # a pruned block may be empty
                parameter[-1, -1] = 2 * parameter.abs().max()
    network.eval()
    if case.precision == "float32":
        return network
    scales = {name: 127 / 4.0 for name, _ in quantizable_linears(network)}
    return quantize_model(network, case.precision, scales)


def with_attention(architecture: Architecture) -> Architecture:
    """Return the same shape with self-attention instead of the decoder's SSRUs, with the cross-attention's heads."""
    decoder = tuple(replace(layer, self_heads=layer.heads) for layer in architecture.decoder)
    return replace(architecture, decoder=decoder, decoder_kind="attention")


def in_batches(text: Sources, size: int) -> list[tuple[Sources, int]]:
    """Return batches of sentences of similar length, longest first, with the length of their outputs in pieces."""
    order = sorted(text, key=len, reverse=True)
    batches = [order[first : first + size] for first in range(0, len(order), size)]
    return [(batch, int(FACTOR * len(batch[0]))) for batch in batches]


class Ours:
    """Network in the runtime."""

    def __init__(self, case: Case, isa: str):
        shortlist = random_shortlist(case.architecture.vocabulary) if case.shortlist else None
        self._runtime = Runtime([random_network(case)], isa, shortlist)
        self._batches: list[tuple[Sources, SearchOptions]] = []

    def prepare(self, text: Sources, size: int) -> None:
        forced = {"batch_tokens": 10**6, "length_factor": 0.0, "allow_unknown": True}
        self._batches = [
            (batch, SearchOptions(batch_size=size, length_constant=limit, **forced))
            for batch, limit in in_batches(text, size)
        ]

    def translate(self) -> list[float]:
        return [timed(self._runtime.translate, batch, options) for batch, options in self._batches]


class CTranslate2:
    """Network in CTranslate2, on one thread."""

    def __init__(self, case: Case):
        import ctranslate2

        from weebill.runtime.exports.ctranslate2 import export

        shape = with_attention(case.architecture)
        self._pieces = ["</s>", "<unk>", *(f"p{index}" for index in range(2, shape.vocabulary))]
        self._use_shortlist = case.shortlist
        precision = None if case.precision == "float32" else case.precision
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "model"
            shortlist = random_shortlist(shape.vocabulary) if case.shortlist else None
            network = random_network(Case(shape, "float32"))
            export(network, self._pieces, folder, precision, shortlist)
            options = {"compute_type": case.precision, "inter_threads": 1, "intra_threads": 1}
            self._translator = ctranslate2.Translator(str(folder), "cpu", **options)
        self._batches: list[tuple[list[list[str]], int]] = []

    def prepare(self, text: Sources, size: int) -> None:
        self._batches = [
            ([[self._pieces[piece] for piece in source[:-1]] for source in batch], limit)
            for batch, limit in in_batches(text, size)
        ]

    def translate(self) -> list[float]:
        return [timed(self._search, batch, limit) for batch, limit in self._batches]

    def _search(self, batch: list[list[str]], limit: int) -> None:
        length = {"max_decoding_length": limit, "min_decoding_length": limit}
        self._translator.translate_batch(batch, beam_size=1, use_vmap=self._use_shortlist, **length)


class Remote(Worker):
    """Engine in its own process, where `call` creates it."""

    def prepare(self, text: Sources, size: int) -> None:
        self.call("prepare", text, size)

    def translate(self) -> list[float]:
        return self.call("translate")


OPPONENT = "CTranslate2 with a self-attention decoder"  # unlike ours, it has no SSRU


class Opponent(Remote):
    """CTranslate2 in its own process; settings: environment variables of the process."""

    def __init__(self, case: Case, settings: Mapping[str, str], cores: Sequence[int] | None = None):
        super().__init__(cores, variables=settings)
        self._settings, self._size = settings, 0
        self.call(CTranslate2, case)

    def prepare(self, text: Sources, size: int) -> None:
        self._size = size
        super().prepare(text, size)

    def __str__(self) -> str:
        library = "MKL" if self._settings["CT2_USE_MKL"] == "1" else "oneDNN"
        settings = f"{self._settings['CT2_FORCE_CPU_ISA']}, {library}, batch {self._size}"
        return f"{OPPONENT} ({settings})"


LIMITS = {  # by our instruction set: variables that keep CTranslate2's libraries from faster ones
    "vnni": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI", "MKL_ENABLE_INSTRUCTIONS": "AVX512_E1"},
    "avxvnni": {"ONEDNN_MAX_CPU_ISA": "AVX2_VNNI", "MKL_ENABLE_INSTRUCTIONS": "AVX2_E1"},
    "avx2": {"ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
}


def opponents_settings(isa: str) -> list[dict[str, str]]:
    """Return environments for trials of CTranslate2, with no faster instruction set than `isa`, which is ours."""
    found = available()
    allowed = found[found.index(isa) :] if isa in found else found
    limits = LIMITS[isa] if allowed != found else {}
    sets = ["AVX512", "AVX2"] if {"amx", "vnni"}.intersection(allowed) else ["AVX2"]
    return [
        {"CT2_FORCE_CPU_ISA": one, "CT2_USE_MKL": mkl, **limits}
        for one, mkl in product(sets, ("0", "1"))
    ]
