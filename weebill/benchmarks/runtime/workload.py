"""Input of the benchmarks: sentences and shortlists like those of news, networks with random weights."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from weebill.experiment.shapes import Architecture
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.runtime.shortlist import Shortlist
from weebill.translation.model.network import Translator
from weebill.translation.model.vocabulary import EOS

PIECES_PER_SENTENCE, PIECES_PER_WORD = 26.0, 1.28  # of newstest2021 with a vocabulary of 32,000
FACTOR = 1.1  # output pieces per source piece
CANDIDATES = 50

Sources = list[list[int]]


@dataclass(frozen=True)
class Case:
    """Network to measure: its shape, its type of numbers (float32 or int8), and whether it has a shortlist."""

    architecture: Architecture
    precision: str = "int8"
    shortlist: bool = True


def sentences(vocabulary: int, count: int, seed: int = 1) -> Sources:
    """Draw sentences of source pieces, with the distribution and the lengths of news; each ends in EOS."""
    draw = np.random.default_rng(seed)
    lengths = np.clip(draw.gamma(3.3, PIECES_PER_SENTENCE / 3.3, count), 2, 120).astype(int)
    return [[*(2 + zipf(draw, n, vocabulary - 2, 1.05)).tolist(), EOS] for n in lengths]


def words(text: Sources) -> float:
    """Return the number of words that the pieces of a text correspond to."""
    return sum(map(len, text)) / PIECES_PER_WORD


def zipf(draw: np.random.Generator, count: int, limit: int, skew: float) -> np.ndarray:
    """Draw ranks 0 … limit − 1 with the distribution of pieces in text: p ∝ 1 / (rank + 2.7)^skew."""
    low, high = 2.7 ** (1 - skew), (limit + 2.7) ** (1 - skew)
    ranks = (low + draw.random(count) * (high - low)) ** (1 / (1 - skew)) - 2.7
    return np.minimum(ranks.astype(np.int32), limit - 1)


def random_shortlist(vocabulary: int) -> Shortlist:
    """Draw 50 candidates for each piece, frequent ones more often, and add the 50 most frequent pieces.

    Batches then choose among as many columns as with a real shortlist: about 4,500 at 32 sentences.
    """
    draw = np.random.default_rng(2)
    ranks = zipf(draw, vocabulary * CANDIDATES, vocabulary - 2, 1.2) + 2
    candidates = ranks.reshape(vocabulary, CANDIDATES)
    return Shortlist(candidates, np.arange(2, 2 + CANDIDATES, dtype=np.int32))


def random_network(case: Case) -> Translator:
    """Make a network that never ends a sentence by itself; int8 has one activation scale for all layers."""
    torch.manual_seed(1)
    network = Translator(case.architecture)
    with torch.no_grad():
        network.output.bias[EOS] = -1e4
    network.eval()
    if case.precision == "float32":
        return network
    scales = {name: 127 / 4.0 for name, _ in quantizable_linears(network)}
    return quantize_model(network, case.precision, scales)


def with_attention(architecture: Architecture) -> Architecture:
    """Return the same shape with self-attention in place of the decoder's SSRUs, with the cross-attention's heads."""
    decoder = tuple(replace(layer, self_heads=layer.heads) for layer in architecture.decoder)
    return replace(architecture, decoder=decoder, decoder_kind="attention")


def in_batches(text: Sources, size: int) -> list[tuple[Sources, int]]:
    """Return batches of sentences of similar length, longest first, each with the length of its outputs in pieces."""
    order = sorted(text, key=len, reverse=True)
    batches = [order[first : first + size] for first in range(0, len(order), size)]
    return [(batch, int(FACTOR * len(batch[0]))) for batch in batches]
