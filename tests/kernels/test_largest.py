"""The largest of many values, compared with PyTorch's stable sort."""

import pytest
import torch

from weebill.kernels.largest import largest, largest_at_once


@pytest.mark.parametrize("size", [7, 64, 700, 1000, 2113])
@pytest.mark.parametrize("k", [1, 2, 6])
def test_largest_is_a_stable_descending_sort(size, k):
    """The order is right with many ties, with infinities, and for rows with all best values in one chunk."""
    torch.manual_seed(size * 10 + k)
    continuous = torch.randn(20, size)
    tied = torch.randint(0, 5, (20, size)).float()
    clustered = torch.randn(20, size)
    clustered[:, : size // 3] += 10
    walled = torch.full((20, size), -torch.inf)
    walled[:, size // 2] = 1.0
    for values in (continuous, tied, clustered, walled):
        expected, where = values.sort(dim=1, descending=True, stable=True)
        top, indices = largest(values.clone(), k)
        assert torch.equal(top, expected[:, :k])
        assert torch.equal(indices, where[:, :k])


def test_largest_at_once_is_a_stable_sort():
    draw = torch.Generator().manual_seed(1)
    for n, k in ((5, 5), (64, 3), (700, 4), (1000, 12), (1001, 1)):
        for values in (
            torch.randn(9, n, generator=draw),
            torch.randn(9, n, generator=draw).round(),
        ):
            values[0, : n // 2] = -torch.inf
            expected, places = values.sort(dim=1, descending=True, stable=True)
            found, indices = largest_at_once(values, k)
            assert torch.equal(found, expected[:, :k])
            assert torch.equal(indices, places[:, :k])
            assert torch.equal(largest(values, k)[1], indices)
