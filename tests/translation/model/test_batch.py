"""Batches are padded with end pieces, and targets are shifted."""

from weebill.translation.model.batch import make_batch, pad
from weebill.translation.model.network import START


def test_make_batch_shifts_the_target_and_masks_padding():
    batch = make_batch([[5, 6, 0], [7, 0]], [[8, 0], [9, 10, 11, 0]], [1.0, 0.5])
    assert batch.source.tolist() == [[5, 6, 0], [7, 0, 0]]
    assert batch.source_mask.tolist() == [[True] * 3, [True, True, False]]
    assert batch.decoder_input.tolist() == [[START, 8, 0, 0], [START, 9, 10, 11]]
    assert batch.target_mask.tolist() == [[True, True, False, False], [True] * 4]
    assert batch.places.tolist() == [0, 1, 4, 5, 6, 7]
    assert (batch.words, batch.weight.tolist()) == (6, [1.0, 0.5])


def test_pad_fills_with_end():
    ids, mask = pad([[3, 4, 0], [5, 0]])
    assert ids.tolist() == [[3, 4, 0], [5, 0, 0]]
    assert mask.sum(1).tolist() == [3, 2]
