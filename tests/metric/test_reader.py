"""Encoding of sequences in batches."""

from weebill.metric.reader import ranges


def test_batches_are_bounded():
    sizes = [1, 3, 3, 4, 5, 9]
    batches = [sizes[part] for part in ranges(sizes, 8)]
    assert batches == [[1, 3, 3], [4], [5], [9]]
