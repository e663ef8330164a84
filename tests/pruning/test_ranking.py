"""Choice of the lowest scores: ties, and both rankings."""

import pytest

from weebill.pruning.method import lowest, lowest_share


def test_lowest_across_blocks_with_ties_in_order():
    scores = {"b": [0.5, 0.2, 0.9], "a": [0.2, 0.1], "c": []}
    assert lowest(scores, 3) == [("a", 1), ("b", 1), ("a", 0)]
    assert lowest(scores, 0) == []
    with pytest.raises(ValueError, match="6 to remove, but only 5"):
        lowest(scores, 6)


def test_by_layer_every_block_gives_its_share_and_globally_the_lowest_of_all():
    scores = {"a": [1.0, 2.0, 3.0, 4.0], "b": [5.0, 6.0], "c": [0.5, 9.0]}
    assert lowest_share(scores, 0.5, "layer") == {"a": [0, 1], "b": [0], "c": [0]}
    assert lowest_share(scores, 0.5, "global") == {"a": [0, 1, 2], "b": [], "c": [0]}
    assert lowest_share(scores, 0.0, "global") == {"a": [], "b": [], "c": []}
    assert lowest_share({}, 0.5, "global") == {}
