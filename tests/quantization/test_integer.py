"""Integer products equal those of 64-bit integers exactly."""

import pytest
import torch

from weebill.quantization import integer
from weebill.quantization.integer import (
    EXACT_COLUMNS,
    LARGEST_COLUMNS,
    in_eights,
    integer_product,
)

SHAPES = [(1, 1, 1), (1, 256, 9), (3, 7, 5), (33, 64, 17), (5, EXACT_COLUMNS, 4), (4, 1041, 3)]
SHAPES += [(33, 1, 17), (2, 4096, 6), (0, 8, 3), (3, 8, 0), (2, 0, 3)]


@pytest.fixture(params=["kernel", "float blocks"])
def way(request, monkeypatch):
    if request.param == "float blocks":
        monkeypatch.setattr(integer, "_kernel_is_exact", lambda: False)


@pytest.mark.parametrize(("rows", "inner", "columns"), SHAPES)
def test_products_equal_64_bit_integers(way, rows, inner, columns):
    generator = torch.Generator().manual_seed(rows * inner + columns)
    a = torch.randint(-127, 128, (rows, inner), dtype=torch.int8, generator=generator)
    b = torch.randint(-127, 128, (columns, inner), dtype=torch.int8, generator=generator)
    product = integer_product(a, b)
    assert product.dtype == torch.int32
    assert torch.equal(product.long(), a.long() @ b.long().t())


@pytest.mark.parametrize("inner", [EXACT_COLUMNS, EXACT_COLUMNS + 1, 5000])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_sums_are_exact(way, inner, sign):
    a = torch.full((18, inner), 127, dtype=torch.int8)
    b = torch.full((8, inner), 127 * sign, dtype=torch.int8)
    b[1, 0] -= sign  # an odd sum, which float32 cannot represent beyond 2^24
    product = integer_product(a, b)
    assert torch.equal(product.long(), a.long() @ b.long().t())


def test_block_lengths_are_the_arithmetic_ones():
    assert EXACT_COLUMNS * 127**2 < 2**24 <= (EXACT_COLUMNS + 1) * 127**2
    assert LARGEST_COLUMNS * 127**2 < 2**31 <= (LARGEST_COLUMNS + 1) * 127**2


def test_a_size_that_could_overflow_is_refused():
    codes = torch.zeros(1, LARGEST_COLUMNS + 1, dtype=torch.int8)
    with pytest.raises(ValueError, match="overflow"):
        integer_product(codes, codes)


@pytest.mark.gpu
@pytest.mark.parametrize(("rows", "inner", "columns"), [s for s in SHAPES if min(s)])
def test_products_on_a_gpu_equal_64_bit_integers(rows, inner, columns):
    a = torch.randint(-127, 128, (rows, inner), dtype=torch.int8)
    b = torch.randint(-127, 128, (columns, inner), dtype=torch.int8)
    expected = a.long() @ b.long().t()
    assert torch.equal(integer_product(a.cuda(), b.cuda()).cpu().long(), expected)
    padded = integer_product(a.cuda(), in_eights(b.cuda()), columns)
    assert torch.equal(padded.cpu().long(), expected)


def test_codes_in_eights_already_are_not_copied():
    codes = torch.ones(16, 24, dtype=torch.int8)
    assert in_eights(codes) is codes
    padded = in_eights(codes[:9, :17])
    assert padded.shape == (16, 24)
    assert int(padded.sum()) == 9 * 17
