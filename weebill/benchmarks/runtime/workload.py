"""What is translated and by what: sentences and shortlists like those of news, networks with random weights."""

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
    """A network to measure: its shape, its numbers (float32 or int8), and whether it has a shortlist."""

    architecture: Architecture
    precision: str = "int8"
    shortlist: bool = True


def sentences(vocabulary: int, count: int, seed: int = 1) -> Sources:
    """Source pieces, distributed and as long as those of news, each ended."""
    draw = np.random.default_rng(seed)
    lengths = np.clip(draw.gamma(3.3, PIECES_PER_SENTENCE / 3.3, count), 2, 120).astype(int)
    return [[*(2 + zipf(draw, n, vocabulary - 2, 1.05)).tolist(), EOS] for n in lengths]


def words(text: Sources) -> float:
    """The words that so many pieces are."""
    return sum(map(len, text)) / PIECES_PER_WORD


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


def random_network(case: Case) -> Translator:
    """A network that never ends a sentence by itself; int8 with one activation scale for all."""
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
    """The same shape with self-attention for the decoder's SSRUs, of as many heads as the cross-attention."""
    decoder = tuple(replace(layer, self_heads=layer.heads) for layer in architecture.decoder)
    return replace(architecture, decoder=decoder, decoder_kind="attention")


def in_batches(text: Sources, size: int) -> list[tuple[Sources, int]]:
    """Sentences of like length together, the longest first, and the pieces of each batch's outputs."""
    order = sorted(text, key=len, reverse=True)
    batches = [order[first : first + size] for first in range(0, len(order), size)]
    return [(batch, int(FACTOR * len(batch[0]))) for batch in batches]
