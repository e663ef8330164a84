"""Batches for a GPU have each sentence once, few different sizes, and bounded sizes."""

import random

import pytest

from weebill.translation.search import device_batches as module
from weebill.translation.search.device_batches import device_batches
from weebill.translation.search.shapes import fewer_rows, most_rows, round_length, round_rows
from weebill_runtime.architecture import Architecture, LayerShape
from weebill_runtime.options import Sampling, SearchOptions

TINY = Architecture(
    32000, 256, (LayerShape(8, 32, 1536),) * 6, (LayerShape(8, 32, 1536),), 2, "ssru"
)
TEACHER_LAYER = LayerShape(16, 64, 4096, 16)
TEACHER = Architecture(32000, 1024, (TEACHER_LAYER,) * 6, (TEACHER_LAYER,) * 6, 6, "attention")
LENGTHS = [random.Random(1).randint(0, 120) for _ in range(9000)]


@pytest.mark.parametrize("beam", [1, 6])
@pytest.mark.parametrize(("shape", "memory"), [(TINY, 10e9), (TEACHER, 10e9), (TEACHER, 1e9)])
def test_batches_are_large_and_bounded(shape, memory, beam):
    options = SearchOptions(beam=beam, batch_size=None)
    batches = device_batches(LENGTHS, options, [shape], 2, memory)
    order = [index for batch in batches for index in batch]
    assert sorted(order) == [index for index, length in enumerate(LENGTHS) if length]
    assert [LENGTHS[index] for index in order] == sorted(filter(None, LENGTHS), reverse=True)
    for batch in batches[:-1]:
        rows, length = len(batch), round_length(LENGTHS[batch[0]] + 1)
        assert round_rows(rows) == rows, "a shape that has no padding rows"
        assert rows * beam <= module.MOST_HYPOTHESES
        assert rows * length <= module.MOST_PIECES
        past = 2 * 2 * 6 * 1024 * beam * options.limit(LENGTHS[batch[0]])
        assert shape is TINY or rows * past <= memory
    if shape is TINY and beam == 1:
        assert max(map(len, batches)) >= 1536


def test_many_samples_of_a_sentence_fit_a_small_card():
    """Candidates for minimum Bayes risk, in float32 on a card of 24 GB."""
    options = SearchOptions(nbest=100, sampling=Sampling(1.0, 0.02, 1), batch_size=None)
    for batch in device_batches(LENGTHS, options, [TEACHER], 4, module.MEMORY_SHARE * 24e9):
        past = 4 * 2 * 6 * 1024 * 100 * options.limit(LENGTHS[batch[0]])
        assert len(batch) == 1 or len(batch) * past <= module.MEMORY_SHARE * 24e9


def test_memory_for_one_sentence_is_always_taken():
    assert device_batches([5, 0, 9], SearchOptions(batch_size=None), [TINY], 2, 1.0) == [[2], [0]]


def test_rounded_numbers_of_rows():
    assert [round_rows(n) for n in (1, 8, 9, 13, 16, 17, 25, 97, 129, 1024, 1025)] == [
        *(8, 8, 12, 16, 16, 24, 32, 128, 192, 1024, 1536)
    ]
    for count in range(9, 3000):
        assert most_rows(count) <= count <= round_rows(count)
        assert round_rows(most_rows(count)) == most_rows(count)
    assert fewer_rows(1536, 1536) == 1536
    assert fewer_rows(1536, 768) == 768
    assert fewer_rows(1536, 1) == 192
    assert fewer_rows(200, 1) == 200
    assert [round_length(n) for n in (1, 8, 9, 64, 65, 97)] == [8, 8, 16, 64, 96, 128]
