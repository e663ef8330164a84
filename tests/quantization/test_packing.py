"""4-bit packing: exact round trips, sizes, and refusals."""

import pytest
import torch

from weebill.quantization.grids import GRIDS, grid_named
from weebill.quantization.packing import pack_nibbles, unpack_nibbles


def test_two_codes_a_byte_low_half_first():
    assert pack_nibbles(torch.tensor([1, 2, 15])).tolist() == [0x21, 0x0F]
    assert unpack_nibbles(torch.tensor([0x21, 0x0F], dtype=torch.uint8), 3).tolist() == [1, 2, 15]


def test_random_shapes_round_trip():
    generator = torch.Generator().manual_seed(3)
    for _ in range(200):
        shape = torch.randint(0, 9, (int(torch.randint(1, 4, (), generator=generator)),))
        codes = torch.randint(0, 16, shape.tolist(), generator=generator, dtype=torch.int8)
        packed = pack_nibbles(codes)
        assert packed.dtype == torch.uint8 and packed.numel() == (codes.numel() + 1) // 2
        assert torch.equal(unpack_nibbles(packed, codes.numel()).view(codes.shape), codes)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (4, 6), (2, 3, 5)])
def test_every_grid_packs_to_its_bits_and_back(name, shape):
    grid = grid_named(name)
    codes, scale = grid.quantize(torch.randn(shape))
    packed = grid.pack(codes)
    assert packed.nbytes == -(-codes.numel() * grid.bits // 8)
    assert (packed.shape, packed.dtype) == grid.packed_shape(torch.Size(shape))
    assert scale.shape == grid.scale_shape(torch.Size(shape))
    assert torch.equal(grid.unpack(packed, torch.Size(shape)), codes)


@pytest.mark.parametrize("codes", [[16], [-1, 3]])
def test_what_does_not_fit_into_four_bits_is_refused(codes):
    with pytest.raises(ValueError, match="4 bits"):
        pack_nibbles(torch.tensor(codes))


def test_a_wrong_number_of_bytes_is_refused():
    with pytest.raises(ValueError, match="cannot hold"):
        unpack_nibbles(torch.zeros(2, dtype=torch.uint8), 5)
