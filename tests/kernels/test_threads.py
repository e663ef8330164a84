"""Threads of PyTorch share the rows of the compiled kernels' products; the order of rows is kept."""

import threading

import pytest
import torch

from weebill.kernels.extension import fastest
from weebill.kernels.int8_layers import Int8Weight
from weebill.kernels.threads import ROWS_OF_A_THREAD, by_threads


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("rows", "parts"),
    [(0, 1), (2 * ROWS_OF_A_THREAD - 1, 1), (2 * ROWS_OF_A_THREAD, 2), (5 * ROWS_OF_A_THREAD, 3)],
)
def test_rows_enough_are_divided(three_threads, rows, parts):
    heights, together = [], threading.Barrier(parts, timeout=10)

    def double(x):
        together.wait()  # otherwise the parts would run one after another
        heights.append(len(x))
        return 2 * x

    x = torch.arange(rows * 3.0).view(rows, 3)
    assert torch.equal(by_threads(double, x), 2 * x)
    assert len(heights) == parts and sum(heights) == rows


def test_kernels_compute_the_same_side_by_side(three_threads):
    torch.manual_seed(1)
    codes = torch.randint(-127, 128, (40, 24), dtype=torch.int8)
    weight, x = Int8Weight(codes, torch.ones(40), fastest()), torch.randn(400, 24)
    found = weight.multiply(x, None, None)
    assert torch.equal(found, torch.cat([weight.multiply(one[None], None, None) for one in x]))
