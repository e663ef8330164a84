"""The runtime's choice of batches: each sentence once, and small batches if sentences have many columns."""

import numpy as np
import pytest

from weebill_runtime import batching
from weebill_runtime.architecture import Architecture
from weebill_runtime.batching import SIZES, DecoderCost, best_batches, best_size
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import EOS

VOCABULARY = 4000
TINY = DecoderCost(row=10**6, column=256)


def shortlist(candidates: int) -> Shortlist:
    """Return a shortlist in which every piece has its own candidates."""
    numbers = np.arange(VOCABULARY * candidates, dtype=np.int32) % VOCABULARY
    return Shortlist(numbers.reshape(VOCABULARY, candidates), np.arange(2, 50, dtype=np.int32))


def sources(count: int, seed: int = 1) -> list[list[int]]:
    draw = np.random.default_rng(seed)
    return [
        [*draw.integers(2, VOCABULARY, draw.integers(0, 40)).tolist(), EOS] for _ in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 5, 1300])
@pytest.mark.parametrize("with_shortlist", [True, False])
def test_every_sentence_that_is_not_empty_is_in_one_batch(count, with_shortlist):
    text = sources(count)
    found = best_batches(text, TINY, shortlist(3) if with_shortlist else None, most_pieces=600)
    assert sorted(index for batch in found for index in batch) == [
        index for index, source in enumerate(text) if len(source) > 1
    ]
    lengths = [[len(text[index]) - 1 for index in batch] for batch in found]
    assert all(one == sorted(one, reverse=True) for one in lengths)
    assert all(max(one) * len(one) <= 600 or len(one) == 1 for one in lengths)
    assert best_batches([[EOS]], TINY, None, 600) == []


def test_the_size_is_that_of_least_cost_written_out():
    """Sentences share no piece, so each adds equally many columns."""
    text = [[*range(2 + 9 * number, 11 + 9 * number), EOS] for number in range(128)]
    chosen = shortlist(1)

    def cost(size):
        columns = len(set(range(2, 50)) | {EOS} | {p for one in text[:size] for p in one})
        products = TINY.row + TINY.column * columns
        return (
            (10 * size + batching.SHARED * 10) * products + batching.GATHER * 256 * columns
        ) / size

    assert best_size(text, TINY, chosen) == min(SIZES, key=cost)


def test_shortlists_that_grow_make_batches_small_and_those_that_cannot_large():
    text = sorted(sources(600), key=len, reverse=True)
    growing, everything, none = (
        best_size(text, TINY, one) for one in (shortlist(1), shortlist(40), None)
    )
    assert growing < everything == none == SIZES[-1]


def test_costs_are_the_multiplications_of_the_decoders_maps():
    entry = {"embedding": 256, "feed_forward": 1536, "heads": 8, "attention_width": 256,
             "encoder_layers": 6, "decoder_layers": 2, "decoder_tied": True, "decoder": "ssru"}  # fmt: skip
    tied = DecoderCost.of(Architecture.from_zoo(entry, 32000))
    assert tied == DecoderCost(2 * (4 * 256**2 + 2 * 256 * 1536), 256)
    assert DecoderCost.of(Architecture.from_zoo({**entry, "decoder_tied": False}, 32000)) == tied
