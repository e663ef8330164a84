"""Arrays of many lines give the same results as each line alone."""

import numpy as np
import pytest

from weebill.corpus.cleaning.joined_lines import joined_lines, spaces, sums

LINES = ["A dog\u00a0sleeps.", "", "犬は眠る。", " \t ", "😀"]


@pytest.mark.parametrize("lines", [LINES, []])
def test_sums_are_those_of_each_line(lines):
    codes, bounds = joined_lines(lines)
    assert sums(codes, bounds).tolist() == [sum(map(ord, f"{line}\n")) for line in lines]
    blank = [sum(map(str.isspace, f"{line}\n")) for line in lines]
    assert sums(spaces()[codes].view(np.uint8), bounds).tolist() == blank
    halves = sums(codes / 2, bounds)
    assert halves.dtype == float and halves.tolist() == (sums(codes, bounds) / 2).tolist()
