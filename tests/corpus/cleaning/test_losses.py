"""A warning names a filter that drops more than a third of a corpus, and the key that turns it off."""

from weebill.corpus.cleaning.losses import great_losses


def test_great_losses():
    assert great_losses({"numbers": 333, "length_ratio": 20, "near_duplicate": 600}, 1000) == []
    assert great_losses({"length_ratio": 90}, 99) == []
    [line] = great_losses({"length_ratio": 334}, 1000)
    assert line.startswith("the filter 'length_ratio' drops 334 of 1,000 rows (33%)")
    assert "`cleaning.rules.disabled: [length_ratio]`" in line
