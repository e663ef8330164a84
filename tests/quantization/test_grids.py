"""Grids, compared with brute force in float64, closed forms and a dense search of scales; exact packing."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from tests.quantization.listed import Log8, Sevenths
from weebill.errors import InputError
from weebill.quantization.grids import GRIDS, grid_named
from weebill.quantization.weights import fake_quantize_activations, straight_through

BITS = {"int8": 8, "int8_rowwise": 8, "log4": 4}  # per code
LOG4_POWERS = [2.0**k for k in range(-7, 1)]


def tensors():
    """Return weights of several shapes and distributions, with zeros, ties and a single element."""
    generator = torch.Generator().manual_seed(0)
    normal = torch.randn(37, 53, generator=generator)
    return {
        "normal": normal,
        "heavy": normal**3,
        "uniform": torch.rand(8, 1000, generator=generator) - 0.5,
        "small": normal * 1e-6,
        "odd": normal[:3, :7].contiguous(),
        "transposed": normal.t(),
        "one": torch.tensor([[-0.3]]),
        "zeros and ones": torch.tensor([[0.0, -0.0, 1.0], [-1.0, 0.5, 0.0]]),
    }


@pytest.fixture(params=tensors())
def weights(request):
    return tensors()[request.param]


@pytest.mark.parametrize("name", ["int8", "int8_rowwise"])
def test_int8_is_the_nearest_of_255_steps_to_the_maximum(name, weights):
    codes, scale = grid_named(name).quantize(weights)
    decoded = grid_named(name).decode(codes, scale)
    assert codes.dtype == torch.int8 and codes.abs().max() == 127
    for row in range(weights.shape[0]):
        largest = (weights[row] if name == "int8_rowwise" else weights).abs().max().item()
        step = largest / 127 if largest else 1.0
        for column in range(weights.shape[1]):
            exact = weights[row, column].item() / step
            code = codes[row, column].item()
            assert abs(code - exact) <= 0.5 + 1e-5
            assert decoded[row, column].item() == pytest.approx(code * step, rel=1e-6)


def test_rows_of_zeros_stay_zero_in_every_grid():
    weights = torch.tensor([[0.0, 0.0], [1.0, -2.0]])
    assert grid_named("int8_rowwise").round(weights).tolist() == [
        [0.0, 0.0],
        pytest.approx([64 * 2 / 127, -2.0]),
    ]
    for grid in map(grid_named, GRIDS):
        assert grid.round(torch.zeros(3, 3)).abs().max() == 0


def test_log4_is_the_nearest_of_sixteen_numbers(weights):
    grid = grid_named("log4")
    codes, scale = grid.quantize(weights)
    decoded = grid.decode(codes, scale).double()
    members = [sign * power * scale.item() for sign in (1, -1) for power in LOG4_POWERS]
    assert set(decoded.unique().tolist()) <= set(members)
    distance = (weights.double()[..., None] - torch.tensor(members, dtype=torch.float64)).abs()
    error = (weights.double() - decoded).abs()
    assert torch.all(error <= distance.amin(-1) * (1 + 1e-6) + 1e-12)
    assert len(grid.encode(torch.linspace(-2, 2, 999), torch.tensor(1.0)).unique()) == 16


@pytest.mark.parametrize("grid", [Sevenths(), Log8()], ids=["4 bits", "8 bits"])
def test_listed_numbers_are_the_nearest(grid, weights):
    codes, scale = grid.quantize(weights)
    decoded = grid.decode(codes, scale)
    assert decoded.abs().max() == weights.abs().max()
    members = torch.tensor(grid.numbers, dtype=torch.float64) * scale.double()
    distance = (weights.double()[..., None] - members).abs().amin(-1)
    error = (weights.double() - decoded).abs()
    assert torch.all(error <= distance * (1 + 1e-6) + 1e-7 * scale)
    packed = grid.pack(codes)
    bytes_ = -(-weights.numel() // 2) if grid.name == "sevenths" else weights.numel()
    assert (packed.numel(), packed.dtype) == (bytes_, torch.uint8)
    assert (tuple(packed.shape), packed.dtype) == grid.packed_shape(weights.shape)
    assert torch.equal(grid.unpack(packed, weights.shape), codes)


@pytest.mark.parametrize("shape", ["normal", "heavy", "uniform", "odd"])
def test_the_log4_scale_is_a_fixed_point_of_the_published_iteration(shape):
    weights = tensors()[shape]
    scale = grid_named("log4").fit(weights).item()
    magnitudes = weights.abs().double().flatten().tolist()
    reached, before = max(magnitudes), 0.0
    while abs(reached - before) > 1e-12 * reached:  # brute force: S ← Σ a·w / Σ a², a = q / S
        before = reached
        powers = [min(LOG4_POWERS, key=lambda p: abs(m - p * before)) for m in magnitudes]
        top = math.fsum(p * m for p, m in zip(powers, magnitudes, strict=True))
        reached = top / math.fsum(p * p for p in powers)
    assert scale == pytest.approx(reached, rel=1e-5)


@pytest.mark.parametrize("shape", ["normal", "uniform"])
def test_no_scale_of_a_dense_search_is_much_better(shape):
    weights = tensors()[shape]
    grid = grid_named("log4")
    largest = weights.abs().max()

    def error(scale):
        return ((grid.decode(grid.encode(weights, scale), scale) - weights) ** 2).mean().item()

    ours = error(grid.fit(weights))
    best = min(error(largest * 2 ** (-j / 200)) for j in range(1000))
    assert ours <= error(largest)  # refining helps
    assert ours <= 1.02 * best


@pytest.mark.parametrize("name", GRIDS)
def test_rounding_twice_is_rounding_once(name, weights):
    grid = grid_named(name)
    codes, scale = grid.quantize(weights)
    assert torch.equal(grid.encode(grid.decode(codes, scale), scale), codes)


@pytest.mark.parametrize("name", GRIDS)
def test_straight_through_is_the_grid_forward_and_the_identity_backward(name):
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(1)).requires_grad_()
    out = straight_through(x, grid_named(name).round(x))
    assert torch.equal(out, grid_named(name).round(x.detach()))
    factors = torch.arange(20.0).view(5, 4)
    (out * factors).sum().backward()
    assert torch.equal(x.grad, factors)


def test_activations_are_clipped_going_forward_and_not_going_backward():
    x = torch.tensor([-3.0, -0.26, 0.0, 0.25, 1.0], requires_grad=True)
    out = fake_quantize_activations(x, torch.tensor(127.0))  # numbers code / 127
    assert out.tolist() == pytest.approx([-1, -33 / 127, 0, 32 / 127, 1])
    out.sum().backward()
    assert x.grad.tolist() == [1] * 5


@pytest.mark.parametrize("name", GRIDS)
def test_what_has_no_scale_is_refused(name):
    with pytest.raises(ValueError, match="empty"):
        grid_named(name).quantize(torch.zeros(0, 4))
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="NaN"):
            grid_named(name).quantize(torch.tensor([[1.0, bad]]))


def test_an_unknown_grid_is_named_with_the_nearest():
    with pytest.raises(InputError, match="did you mean 'log4'"):
        grid_named("log44")


def test_a_million_gaussian_weights_lose_what_theory_says():
    weights = torch.randn(1_000_000, generator=torch.Generator().manual_seed(2))
    step = weights.abs().max().item() / 127
    error = ((grid_named("int8").round(weights) - weights) ** 2).mean().item()
    assert error == pytest.approx(step**2 / 12, rel=0.01)  # uniform rounding
    # Numbers between 2^k and 2^(k+1) have an error of at most half the spacing: relative error ≤ 1/3.
    rounded = grid_named("log4").round(weights)
    scale = grid_named("log4").fit(weights)
    inside = (weights.abs() >= scale / 128) & (weights.abs() <= scale)
    relative = ((rounded - weights) / weights).abs()[inside]
    assert relative.max() <= 1 / 3 + 1e-6
    assert np.isclose(relative.max().item(), 1 / 3, atol=1e-3)


def test_two_codes_a_byte_low_half_first():
    grid, packed = grid_named("log4"), torch.tensor([0x21, 0x0F], dtype=torch.uint8)
    assert grid.pack(torch.tensor([1, 2, 15])).tolist() == packed.tolist()
    assert grid.unpack(packed, (3,)).tolist() == [1, 2, 15]


def test_random_shapes_round_trip():
    grid, generator = grid_named("log4"), torch.Generator().manual_seed(3)
    for _ in range(200):
        shape = torch.randint(0, 9, (int(torch.randint(1, 4, (), generator=generator)),))
        codes = torch.randint(0, 16, shape.tolist(), generator=generator, dtype=torch.int8)
        packed = grid.pack(codes)
        assert packed.dtype == torch.uint8 and packed.numel() == (codes.numel() + 1) // 2
        assert torch.equal(grid.unpack(packed, codes.shape), codes)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (4, 6), (2, 3, 5)])
def test_every_grid_packs_to_its_bits_and_back(name, shape):
    grid = grid_named(name)
    codes, scale = grid.quantize(torch.randn(shape))
    packed = grid.pack(codes)
    if name in BITS:
        assert packed.nbytes == -(-codes.numel() * BITS[name] // 8)
    assert (packed.shape, packed.dtype) == grid.packed_shape(torch.Size(shape))
    assert scale.shape == grid.scale_shape(torch.Size(shape))
    assert torch.equal(grid.unpack(packed, torch.Size(shape)), codes)


@pytest.mark.parametrize("name", GRIDS)
def test_the_estimate_of_disk_counts_codes_and_a_little_more(name):
    grid = grid_named(name)
    packed = grid.pack(grid.quantize(torch.randn(40, 100))[0])
    assert 0 < grid.bytes_per_weight - packed.nbytes / 4000 < 0.3


@pytest.mark.parametrize("codes", [[16], [-1, 3]])
def test_what_does_not_fit_into_four_bits_is_refused(codes):
    with pytest.raises(ValueError, match="but log4 has 16 numbers"):
        grid_named("log4").pack(torch.tensor(codes))


def test_a_wrong_number_of_bytes_is_refused():
    with pytest.raises(ValueError, match="cannot hold"):
        grid_named("log4").unpack(torch.zeros(2, dtype=torch.uint8), (5,))


def test_each_grid_brings_its_key_of_a_configuration_without_torch():
    code = (
        "import sys; from weebill.configuration.sections.quantization import Quantization as q\n"
        "from weebill.quantization.grids import GRIDS; from weebill.settings import sentences\n"
        "assert {grid: sentences(q)[grid] for grid in GRIDS} == "
        "{grid: one.sentence for grid, one in GRIDS.items()}; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
